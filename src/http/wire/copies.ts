import { z } from 'zod'
import { failed } from './outcomes.ts'
import { file, instant } from './record.ts'

const path = z.string().describe('As received in `from`.')

/** The response to a batch copy. */
export const copyReport = z
  .object({
    results: z.array(
      z.union([
        z.object({
          path,
          status: z.literal('copied'),
          file: file.describe('The copy, or an identical file of the folder that is used instead.'),
        }),
        failed,
      ]),
    ),
  })
  .describe('The outcome for each file.')

/** The response to a batch move. */
export const moveReport = z
  .object({
    results: z.array(
      z.union([
        z.object({
          path,
          status: z.literal('moved'),
          file: file.describe('The file at its new path.'),
          redirectUntil: instant('Until when the former URLs redirect. Only with `redirect`.').optional(),
        }),
        failed,
      ]),
    ),
  })
  .describe('The outcome for each file.')

export type CopyReport = z.input<typeof copyReport>
export type MoveReport = z.input<typeof moveReport>
