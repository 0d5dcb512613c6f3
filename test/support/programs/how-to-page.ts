import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PROJECT } from '../service.ts'

/** What a reader of a how-to guide does next: types a command, writes a file, or adds a line to the options in a file. */
export type Step = { command: string } | { file: string; code: string } | { options: string; line: string }

/** The steps of a page below docs/how-to, in order. The line before the code of a file ends with the name of the file, as code. */
export async function stepsOf(page: string): Promise<Step[]> {
  const text = await readFile(join(PROJECT, 'docs', 'how-to', page), 'utf8')
  return [
    ...text.matchAll(
      /(?:`([^`\n]+)`:\n\n|Add this line to the options in `([^`\n]+)`.*:\n\n)?```(\w+)\n([\s\S]*?)```/g,
    ),
  ].flatMap(([, file, options, language, code = '']): Step[] => {
    if (options !== undefined) return [{ options, line: code }]
    if (language !== 'sh') return file === undefined ? [] : [{ file, code }]
    return code
      .trimEnd()
      .split('\n')
      .map((command) => ({ command }))
  })
}
