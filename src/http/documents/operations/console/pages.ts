import type { Content, Endpoint } from '../../endpoint.ts'
import { FILE_BYTES } from '../uploads.ts'

export const HTML: Readonly<Record<string, Content>> = { 'text/html': { json: { type: 'string' } } }
/** The response of a page before it is built. */
export const NOT_BUILT = {
  503: {
    description:
      'The page is not built yet: a first `npm start` builds it while the server serves already. It reloads by itself.',
    content: HTML,
    headers: ['Cache-Control', 'Retry-After'],
  },
} as const satisfies Endpoint['responses']

const PAGE = {
  200: { description: 'The page.', content: HTML, headers: ['Cache-Control'] },
  ...NOT_BUILT,
} as const satisfies Endpoint['responses']

/** The pages of the console. They send their requests to the other endpoints. */
export const CONSOLE_PAGES: readonly Endpoint[] = [
  {
    route: 'GET /dashboard',
    id: 'getConsole',
    tag: 'Service',
    summary: 'The console: pages for people who manage files and clients',
    access: 'public',
    responses: PAGE,
    examples: [{ id: 'page', summary: 'The first page', status: 200 }],
  },
  {
    route: 'GET /dashboard/{*page}',
    path: '/dashboard/{page}',
    id: 'getConsolePage',
    tag: 'Service',
    summary: 'A page of the console',
    access: 'public',
    parameters: [
      {
        in: 'path',
        name: 'page',
        description: 'The path of the page.',
        schema: { type: 'string' },
        required: true,
      },
    ],
    responses: PAGE,
    examples: [{ id: 'page', summary: 'A page', parameters: { page: 'account' }, status: 200 }],
  },
  {
    route: 'GET /dashboard/assets/:file',
    id: 'getConsoleAsset',
    tag: 'Service',
    summary: 'A script or style sheet of the console',
    access: 'public',
    parameters: [
      {
        in: 'path',
        name: 'file',
        description: 'Name of the file, which has a hash of its content.',
        schema: { type: 'string' },
        required: true,
      },
    ],
    responses: {
      200: {
        description: 'The file. It never changes.',
        content: { '*/*': FILE_BYTES },
        headers: ['Cache-Control'],
      },
    },
    examples: [
      { id: 'none', summary: 'A file that does not exist', parameters: { file: 'none.js' }, status: 404 },
    ],
  },
]
