import type { MediaGroup } from '../../core/media/groups.ts'
import { type ParameterSpec, parseParameter } from '../../core/plugin-api/parameter.ts'
import { Problem } from '../../core/problem.ts'

/** The parameters of a file type by every name, and those of the outputs that a parameter leads to. */
interface Parameters {
  words: Words
  makers: ReadonlyMap<string, { made?: MediaGroup; words: Words }>
}
type Words = ReadonlyMap<string, { spec: ParameterSpec }>

/**
 * The end of a message about a parameter that the file's type lacks, but the output of another parameter has:
 * ". Image parameters need `thumbnail`: use ?thumbnail&blur=…" for a video.
 *
 * @returns undefined when no other parameter helps
 */
export function makerHint(
  [word, received]: readonly [word: string, received?: string],
  { words: own, makers }: Parameters,
): string | undefined {
  for (const [maker, { made = '', words }] of makers) {
    const spec = words.get(word)?.spec
    const isFlag = words.get(maker)?.spec.type === 'flag'
    if (!spec || !isFlag || spec === own.get(word)?.spec || !accepts(word, spec, received)) continue
    const group = `${made.charAt(0).toUpperCase()}${made.slice(1)}`
    return `. ${group} parameters need \`${maker}\`: use ?${maker}&${word}=…`
  }
  return undefined
}

/** Parses a value of a parameter. A failure names the parameter that would make the value valid. @throws Problem 400 */
export function withMakerHint<T>(
  pair: readonly [word: string, received: string],
  known: Parameters,
  parse: () => T,
): T {
  try {
    return parse()
  } catch (error) {
    const hint = error instanceof Problem ? makerHint(pair, known) : undefined
    if (!(error instanceof Problem) || hint === undefined) throw error
    const { status, code, members, headers } = error
    throw new Problem({ status, code, members, headers, detail: `${error.message}${hint}` })
  }
}

function accepts(word: string, spec: ParameterSpec, received: string | undefined): boolean {
  if (received === undefined) return true
  try {
    parseParameter(word, spec, received)
    return true
  } catch {
    return false
  }
}
