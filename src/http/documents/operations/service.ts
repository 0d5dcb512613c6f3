import { health, parameterLists, readiness } from '../../wire/system.ts'
import type { Endpoint, Parameter } from '../endpoint.ts'
import { HTML, NOT_BUILT } from './console/pages.ts'
import { FILE_BYTES } from './uploads.ts'

const READINESS = {
  content: { 'application/json': { schema: readiness } },
} as const

const SENT = ['Cache-Control', 'ETag', 'Last-Modified', 'Accept-Ranges', 'Content-Range'] as const
const FILE_NAME: Parameter = {
  in: 'path',
  name: 'file',
  description: 'Name of the file.',
  schema: { type: 'string', enum: ['swagger-ui-bundle.js', 'swagger-ui.css', 'start.js'] },
  required: true,
}

/** The state of the service, and its documents. */
export const SERVICE: readonly Endpoint[] = [
  {
    route: 'GET /v1/parameters',
    id: 'getParameters',
    tag: 'Service',
    summary: 'Get all parameters of delivery URLs, by the type of the file',
    access: 'public',
    responses: {
      200: {
        description: 'The parameters, including those of plugins.',
        content: { 'application/json': { schema: parameterLists } },
        headers: ['ETag', 'Cache-Control'],
      },
      304: { description: 'The parameters have not changed.', headers: ['ETag', 'Cache-Control'] },
    },
    examples: [{ id: 'all', summary: 'All parameters', status: 200 }],
  },
  {
    route: 'GET /v1/openapi.json',
    id: 'getApiDocument',
    tag: 'Service',
    summary: 'Get this document',
    access: 'public',
    responses: {
      200: {
        description: 'The API of this installation in OpenAPI 3.1, with the parameters of its plugins.',
        content: { 'application/json': { json: { type: 'object' } } },
        headers: ['ETag', 'Cache-Control'],
      },
      304: { description: 'The document has not changed.', headers: ['ETag', 'Cache-Control'] },
    },
    examples: [{ id: 'document', summary: 'This document', status: 200 }],
  },
  {
    route: 'GET /docs/api',
    id: 'getReference',
    tag: 'Service',
    summary: 'A page that shows this document and sends requests',
    access: 'public',
    responses: {
      200: { description: 'The page.', content: HTML, headers: ['Cache-Control', 'ETag'] },
      304: { description: 'The page has not changed.', headers: ['Cache-Control', 'ETag'] },
      ...NOT_BUILT,
    },
    examples: [{ id: 'page', summary: 'The page', status: 200 }],
  },
  {
    route: 'GET /docs/api/:file',
    id: 'getReferenceFile',
    tag: 'Service',
    summary: 'A script or style sheet of this page',
    access: 'public',
    parameters: [FILE_NAME],
    responses: {
      200: { description: 'The file.', content: { '*/*': FILE_BYTES }, headers: SENT },
      206: { description: 'The requested byte range.', content: { '*/*': FILE_BYTES }, headers: SENT },
      304: { description: 'The file has not changed.', headers: SENT },
    },
    examples: [
      { id: 'script', summary: 'A script', parameters: { file: 'start.js' }, status: 200 },
      { id: 'none', summary: 'A file that does not exist', parameters: { file: 'none.js' }, status: 404 },
    ],
  },
  {
    route: 'GET /healthz',
    id: 'getHealth',
    tag: 'Service',
    summary: 'Whether the process runs',
    access: 'public',
    responses: {
      200: {
        description: 'The process runs.',
        content: { 'application/json': { schema: health } },
        headers: ['Cache-Control'],
      },
    },
    examples: [{ id: 'ok', summary: 'The process runs', status: 200, response: { status: 'ok' } }],
  },
  {
    route: 'GET /readyz',
    id: 'getReadiness',
    tag: 'Service',
    summary: 'Whether the service can serve requests',
    access: 'public',
    responses: {
      200: { description: 'The service can serve requests.', ...READINESS, headers: ['Cache-Control'] },
      503: {
        description: 'The service cannot serve requests, or is shutting down.',
        ...READINESS,
        headers: ['Retry-After', 'Cache-Control'],
      },
    },
    examples: [
      {
        id: 'ready',
        summary: 'All checks have passed',
        status: 200,
        response: {
          status: 'ok',
          version: '1.0.0',
          checks: { bucket: 'ok', index: 'ok', ffmpeg: 'ok', disk: 'ok', fonts: 'ok' },
        },
      },
    ],
  },
  {
    route: 'GET /metrics',
    id: 'getMetrics',
    tag: 'Service',
    summary: 'Get the Prometheus metrics, if the operator has set METRICS_TOKEN',
    access: 'metrics',
    responses: {
      200: {
        description: 'The metrics.',
        content: { 'text/plain': { json: { type: 'string' } } },
        headers: ['Cache-Control'],
      },
    },
    examples: [{ id: 'all', summary: 'All metrics', status: 200 }],
  },
  {
    route: 'GET /',
    id: 'getHome',
    tag: 'Service',
    summary: 'A page about the service',
    access: 'public',
    responses: { 200: { description: 'The page.', content: HTML } },
    examples: [{ id: 'page', summary: 'The page', status: 200 }],
  },
]
