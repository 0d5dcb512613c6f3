import { foreignList } from '../../wire/foreign.ts'
import type { Endpoint } from '../endpoint.ts'
import { query } from '../parameters.ts'

/** The list of the objects of other systems. */
export const FOREIGN: readonly Endpoint[] = [
  {
    route: 'GET /v1/foreign',
    id: 'listForeignObjects',
    tag: 'Files',
    summary: 'List objects that other systems have written into the bucket',
    description: 'Only below the prefixes of `FOREIGN_PREFIXES`. Sorted by path.',
    access: 'secret',
    parameters: [
      query('prefix', 'Only paths that begin with this text.'),
      query('limit', 'Maximum number of objects on a page.', {
        type: 'integer',
        minimum: 1,
        maximum: 1000,
        default: 100,
      }),
      query('cursor', 'Cursor of the page, from the previous one.'),
    ],
    responses: {
      200: {
        description: 'A page of the list.',
        content: { 'application/json': { schema: foreignList } },
        headers: ['Cache-Control'],
      },
    },
    examples: [
      {
        id: 'empty',
        summary: 'A service without foreign prefixes',
        parameters: {},
        status: 200,
        response: { objects: [], cursor: null },
      },
    ],
  },
]
