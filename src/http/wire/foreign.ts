import { z } from 'zod'
import { named } from '../endpoint/named.ts'

/** An object that another system has written. */
export const foreignObject = named(
  'ForeignObject',
  z
    .object({
      path: z.string().describe('Path of the object in the bucket.'),
      src: z
        .string()
        .nullable()
        .describe(
          'Delivery URL. The type in it follows from the extension of the name; null for an unknown one.',
        ),
      size: z.int().describe('Size in bytes.'),
      changedAt: z.iso.datetime().describe('When the object was last changed.'),
    })
    .describe('An object of another system.'),
)

/** A page of the objects of other systems. */
export const foreignList = named(
  'ForeignObjectList',
  z
    .object({
      objects: z.array(foreignObject),
      cursor: z.string().nullable().describe('Cursor of the next page; null on the last page.'),
    })
    .describe('A page of a list of objects of other systems.'),
)

export type ForeignList = z.input<typeof foreignList>
