const COMMENT = /^ *--.*\n/gm
// The first line of a statement at the top level. Its other lines are indented, or close it.
const STATEMENT = /^(?=[a-z])(?!end\b)/m
const NAMES = /^local (?:function (\w+)|([\w, ]+))/

/**
 * Returns a script with those statements of a library that it uses. Redis creates all functions of a script at each call, so each
 * one takes time even if it is not called.
 *
 * @param library Lua in which each statement at the top level begins at the start of a line, and nothing else but `end` and brackets
 *   does. A `local` statement is left out when no later text has one of its names
 */
export function withUsed(library: string, lua: string): string {
  let script = lua
  for (const statement of library.replace(COMMENT, '').split(STATEMENT).reverse()) {
    const [, name, list] = NAMES.exec(statement) ?? []
    const names = name === undefined ? list?.split(',').map((each) => each.trim()) : [name]
    if (!names || names.some((each) => new RegExp(`\\b${each}\\b`).test(script))) script = statement + script
  }
  return script
}
