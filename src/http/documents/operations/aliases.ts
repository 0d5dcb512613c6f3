import { aliasRollback, aliasTarget } from '../../aliases/request.ts'
import { alias, aliasList } from '../../wire/aliases.ts'
import type { Endpoint, Success } from '../endpoint.ts'
import { EXAMPLE } from '../examples.ts'
import { ALIAS_NAME, header, pageParameters, query } from '../parameters.ts'

const DETAILS: Success = {
  description: 'The alias with its last versions.',
  content: { 'application/json': { schema: alias } },
  headers: ['ETag', 'Cache-Control'],
}
const IF_MATCH = header('If-Match', 'Changes the alias only if this is its current `ETag`.')
const EXAMPLE_PATH = { path: EXAMPLE.alias }
const version = (number: number, file: string, setAt: string) => ({
  version: number,
  file,
  setAt,
  missing: false,
})
const FORMER = version(1, 'image/jpeg/4Qe8Zg2VYxwPnBs7uT6cRk.jpg', '2026-11-30T12:00:00.000Z')
const CURRENT = version(2, EXAMPLE.key, '2026-12-01T12:00:00.000Z')
const ROLLED_BACK = version(3, FORMER.file, '2026-12-02T12:00:00.000Z')
const FIRST = version(1, EXAMPLE.key, '2026-12-01T12:00:00.000Z')
const PLACE = {
  name: EXAMPLE.alias,
  src: `${EXAMPLE.baseUrl}/v1/image/alias/${EXAMPLE.token}/${EXAMPLE.alias}`,
}

/** Stable names for files that can be replaced. */
export const ALIASES: readonly Endpoint[] = [
  {
    route: 'GET /v1/aliases',
    id: 'listAliases',
    tag: 'Files',
    summary: 'List aliases',
    access: 'secret',
    parameters: [
      query('prefix', 'Only aliases in this folder and its subfolders.'),
      ...pageParameters('aliases'),
    ],
    responses: {
      200: {
        description: 'A page of the list, sorted by name.',
        content: { 'application/json': { schema: aliasList } },
        headers: ['Cache-Control'],
      },
    },
    examples: [
      {
        id: 'folder',
        summary: 'The aliases of a folder',
        parameters: { prefix: 'products' },
        status: 200,
        response: { aliases: [{ ...PLACE, ...CURRENT }], cursor: null },
      },
    ],
  },
  {
    route: 'GET /v1/aliases/*path',
    id: 'getAlias',
    tag: 'Files',
    summary: 'Get an alias with its last versions',
    access: 'secret',
    parameters: [ALIAS_NAME],
    responses: { 200: DETAILS },
    examples: [
      {
        id: 'replaced',
        summary: 'An alias whose file was replaced once',
        parameters: EXAMPLE_PATH,
        status: 200,
        response: { ...PLACE, ...CURRENT, versions: [CURRENT, FORMER] },
      },
    ],
  },
  {
    route: 'PUT /v1/aliases/*path',
    id: 'setAlias',
    tag: 'Files',
    summary: 'Set an alias to a file',
    description:
      'Creates the alias when it does not exist. The previous file becomes a version of the alias.',
    access: 'secret',
    parameters: [ALIAS_NAME, IF_MATCH],
    body: { 'application/json': { schema: aliasTarget } },
    responses: { 200: DETAILS, 201: { ...DETAILS, description: 'The new alias.' } },
    examples: [
      {
        id: 'new',
        summary: 'A new alias',
        parameters: { path: 'products/table.jpg' },
        body: { file: EXAMPLE.key },
        status: 201,
        response: {
          name: 'products/table.jpg',
          src: `${EXAMPLE.baseUrl}/v1/image/alias/${EXAMPLE.token}/products/table.jpg`,
          ...FIRST,
          versions: [FIRST],
        },
      },
    ],
  },
  {
    route: 'POST /v1/aliases/*path/rollback',
    path: '/v1/aliases/{path}/rollback',
    id: 'rollBackAlias',
    tag: 'Files',
    summary: 'Set an alias to the file of an earlier version',
    description: 'The restored file becomes a new version.',
    access: 'secret',
    parameters: [ALIAS_NAME, IF_MATCH],
    body: { 'application/json': { schema: aliasRollback } },
    isBodyOptional: true,
    responses: { 200: DETAILS },
    examples: [
      {
        id: 'previous',
        summary: 'To the previous version',
        parameters: EXAMPLE_PATH,
        status: 200,
        response: { ...PLACE, ...ROLLED_BACK, versions: [ROLLED_BACK, CURRENT, FORMER] },
      },
    ],
  },
  {
    route: 'DELETE /v1/aliases/*path',
    id: 'deleteAlias',
    tag: 'Files',
    summary: 'Delete an alias',
    description: 'Deletes the name and its versions. No file is deleted.',
    access: 'secret',
    parameters: [ALIAS_NAME, IF_MATCH],
    responses: { 204: { description: 'The alias does not exist any more.' } },
    examples: [{ id: 'delete', summary: 'Delete an alias', parameters: EXAMPLE_PATH, status: 204 }],
  },
]
