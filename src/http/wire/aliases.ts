import { z } from 'zod'
import { instant } from './record.ts'

const target = {
  version: z.int().min(1).describe('Number of the version. Each change of the file has the next number.'),
  file: z.string().describe('Key of the original.'),
  setAt: instant('When the alias was set to this file.'),
  missing: z.boolean().describe('Whether the file was deleted. Deliveries of the alias then return 404.'),
}

/** An alias with its current version, as lists have it. */
export const listedAlias = z
  .object({
    name: z.string().describe('Name of the alias: `products/chair.jpg`.'),
    src: z.url().describe('Delivery URL. Append parameters as a query string.'),
    ...target,
  })
  .describe('An alias with its current version.')

/** An alias with all versions that are retained. */
export const alias = z
  .object({
    ...listedAlias.shape,
    versions: z
      .array(z.object(target))
      .describe('The last 20 versions, the newest first. The first one is the current version.'),
  })
  .describe('An alias with its last versions.')

/** A page of a client's aliases. */
export const aliasList = z
  .object({
    aliases: z.array(listedAlias),
    cursor: z.string().nullable().describe('Cursor of the next page; null on the last page.'),
  })
  .describe('A page of a list of aliases.')

export type ListedAlias = z.input<typeof listedAlias>
export type Alias = z.input<typeof alias>
export type AliasList = z.input<typeof aliasList>
