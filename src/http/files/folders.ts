import { z } from 'zod'
import { folderName } from '../../core/files/folder.ts'
import type { ListFolders } from '../../service/files/folders.ts'
import { endpoint, json } from '../endpoint/endpoint.ts'
import { replyOf } from '../endpoint/named.ts'
import { pageOf, text } from '../endpoint/query.ts'
import { cursorOf, nextCursor, positionOf } from './cursor.ts'
import { folderIn } from './list.ts'

/** The services that handle these requests. */
export interface Services {
  listFolders: ListFolders
  /** 32 bytes, the key that seals cursors. */
  cursorKey: Buffer
}

const folder = replyOf('Folder', 'A folder.', {
  name: z.string().describe('Name of the folder, without the folders above it.'),
  path: z.string().describe('Path of the folder: `shop/2026`.'),
  files: z.int().describe('Number of files in the folder and its subfolders.'),
  directFiles: z.int().describe('Number of files in the folder itself.'),
  bytes: z.int().describe('Size of all these files in bytes.'),
})
const folderList = replyOf('FolderList', 'A page of a list of folders.', {
  folders: z.array(folder),
  cursor: nextCursor,
})

export const listFolders = endpoint({
  route: 'GET /v1/folders',
  id: 'listFolders',
  tag: 'Files',
  summary: 'List the folders directly below a folder',
  access: { secret: 'read' },
  query: { prefix: text('The folder above. Default: the top level.'), ...pageOf('folders') },
  responses: { 200: json(folderList, 'A page of the list, sorted by name.') },
  problems: ['400 bad_path'],
  examples: [
    {
      id: 'empty',
      summary: 'A folder without subfolders',
      parameters: { prefix: 'shop/2026' },
      status: 200,
      response: { folders: [], cursor: null },
    },
  ],

  async handle(
    { listFolders: list, cursorKey }: Services,
    { caller, query: { prefix, cursor, limit }, signal },
  ) {
    const parent = folderIn(prefix)
    const place = { ...caller, sort: `folders in ${parent}`, key: cursorKey }
    const { folders, next } = await list({
      client: caller.client,
      parent,
      scope: caller.folder ?? '',
      after: positionOf(cursor, place),
      limit,
      signal,
    })
    const page: z.input<typeof folderList> = {
      folders: folders.map(({ folder: path, ...counts }) => ({ name: folderName(path), path, ...counts })),
      cursor: cursorOf(next, place),
    }
    return { json: page }
  },
})
