import { z } from 'zod'

/** A folder of a client, with the files in it and in its subfolders. Files in the trash do not count. */
export const folder = z
  .object({
    name: z.string().describe('Name of the folder, without the folders above it.'),
    path: z.string().describe('Path of the folder: `shop/2026`.'),
    files: z.int().describe('Number of files in the folder and its subfolders.'),
    directFiles: z.int().describe('Number of files in the folder itself.'),
    bytes: z.int().describe('Size of all these files in bytes.'),
  })
  .describe('A folder.')

/** A page of the folders directly below a folder. */
export const folderList = z
  .object({
    folders: z.array(folder),
    cursor: z.string().nullable().describe('Cursor of the next page; null on the last page.'),
  })
  .describe('A page of a list of folders.')

export type FolderList = z.input<typeof folderList>
