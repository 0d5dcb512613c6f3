/** The scripts whose fonts a machine may lack, and what their characters match. */
const SCRIPTS = {
  Arabic: /\p{Script=Arabic}/u,
  Chinese: /\p{Script=Han}/u,
  Hebrew: /\p{Script=Hebrew}/u,
  Hindi: /\p{Script=Devanagari}/u,
  Japanese: /[\p{Script=Hiragana}\p{Script=Katakana}]/u,
  Korean: /\p{Script=Hangul}/u,
  Thai: /\p{Script=Thai}/u,
} as const

export type ScriptName = keyof typeof SCRIPTS

/** The scripts of the characters of a text, sorted. Only those of {@link SCRIPTS}. */
export function scriptsIn(text: string): ScriptName[] {
  return (Object.keys(SCRIPTS) as ScriptName[]).filter((name) => SCRIPTS[name].test(text))
}
