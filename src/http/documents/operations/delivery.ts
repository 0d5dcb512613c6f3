import { MEDIA_GROUPS, type MediaGroup } from '../../../core/media/groups.ts'
import type { DescribedParameters } from '../../../core/plugin-api/describe-parameters.ts'
import { fileInformation } from '../../wire/information.ts'
import { mediaJob } from '../../wire/links.ts'
import type { Endpoint, Parameter } from '../endpoint.ts'
import { EXAMPLE } from '../examples.ts'
import { ALIAS_NAME, flag, query } from '../parameters.ts'
import { pluginParameter } from '../plugin-parameters.ts'
import { CONDITIONS, FILE, MOVED, SENT, STORED, VALIDATORS } from './sent.ts'

const SIGNATURE = [
  query('s', 'Signature of a signed URL.'),
  query('exp', 'Expiry of a signed URL, in seconds since 1970.', { type: 'integer', minimum: 0 }),
]
const DOWNLOAD = query('download', 'Browsers save the file, under this name if it is not empty.')
const COMMON = [
  DOWNLOAD,
  query('preset', 'A preset: a name for a set of parameters.'),
  query('wait', 'Waits for a video or audio job, in seconds.', { type: 'integer', minimum: 1, maximum: 30 }),
]

/** Delivery of stored files and of files of other servers. Each type of file has its own parameters. */
export function deliveryEndpoints(parameters: DescribedParameters): Endpoint[] {
  const of = (group: MediaGroup): Parameter[] => [
    ...parameters[group].map(pluginParameter),
    ...COMMON,
    ...SIGNATURE,
    ...CONDITIONS,
  ]
  return [
    ...MEDIA_GROUPS.map((group) => delivered(group, of(group))),
    ...MEDIA_GROUPS.map((group) => byAlias(group, of(group))),
    ...FETCHED.map((endpoint) => ({ ...endpoint, parameters: of('image') })),
    ...MEDIA_GROUPS.map((group) => mirrored(group, of(group))),
    ...MEDIA_GROUPS.map((group) => foreign(group, of(group))),
    ...OTHERS,
  ]
}

function delivered(group: MediaGroup, parameters: readonly Parameter[]): Endpoint {
  return {
    route: 'GET /v1/:group/upload/:token/*path',
    path: `/v1/${group}/upload/{token}/{path}`,
    id: `get${wordOf(group)}`,
    tag: 'Delivery',
    summary: `Deliver ${NOUNS[group]}, transformed by the parameters`,
    access: 'signature',
    parameters,
    responses: { ...STORED, ...MOVED },
    ...(group === 'image' ? { examples: IMAGE_EXAMPLES } : {}),
  }
}

function byAlias(group: MediaGroup, parameters: readonly Parameter[]): Endpoint {
  return {
    route: 'GET /v1/:group/alias/:token/*path',
    path: `/v1/${group}/alias/{token}/{path}`,
    id: `get${wordOf(group)}ByAlias`,
    tag: 'Delivery',
    summary: `Deliver ${NOUNS[group]} by the name of an alias, transformed by the parameters`,
    access: 'signature',
    parameters: [ALIAS_NAME, ...parameters],
    responses: STORED,
    ...(group === 'image' ? { examples: ALIAS_EXAMPLES } : {}),
  }
}

function mirrored(group: MediaGroup, parameters: readonly Parameter[]): Endpoint {
  return {
    route: 'GET /v1/:group/fetch/keep/:token/:url',
    path: `/v1/${group}/fetch/keep/{token}/{url}`,
    id: `get${wordOf(group)}AndStore`,
    tag: 'Delivery',
    summary: `Deliver ${NOUNS[group]} of another server, and store it at the first request`,
    access: 'signature',
    parameters,
    responses: STORED,
  }
}

function foreign(group: MediaGroup, parameters: readonly Parameter[]): Endpoint {
  return {
    route: 'GET /v1/:group/foreign/:token/*path',
    path: `/v1/${group}/foreign/{token}/{path}`,
    id: `getForeign${wordOf(group)}`,
    tag: 'Delivery',
    summary: `Deliver ${NOUNS[group]} that another system has written into the bucket`,
    access: 'signature',
    parameters: group === 'image' ? parameters : [DOWNLOAD, ...SIGNATURE, ...CONDITIONS],
    responses: SENT,
  }
}

const IMAGE_EXAMPLES = [
  {
    id: 'small',
    summary: '300 px wide, as WebP',
    parameters: { token: EXAMPLE.token, path: EXAMPLE.sourceName, w: '300', f: 'webp' },
    status: 200,
  },
  {
    id: 'tooSmall',
    summary: 'A width that is not allowed',
    parameters: { token: EXAMPLE.token, path: EXAMPLE.sourceName, w: '0' },
    status: 400,
  },
]

const ALIAS_EXAMPLES = [
  {
    id: 'small',
    summary: '300 px wide, as WebP',
    parameters: { token: EXAMPLE.token, path: EXAMPLE.alias, w: '300', f: 'webp' },
    status: 200,
  },
]

const FETCHED: readonly Endpoint[] = [
  {
    route: 'GET /v1/:group/fetch/:token/:url',
    otherRoutes: ['GET /v1/:group/fetch/:token/*path'],
    path: '/v1/image/fetch/{token}/{url}',
    id: 'getRemoteImage',
    tag: 'Delivery',
    summary: 'Deliver a transformed image of another server, without storing it',
    access: 'signature',
    responses: SENT,
  },
]

const OTHERS: readonly Endpoint[] = [
  {
    route: 'GET /v1/bucket/:token/*path',
    id: 'getObject',
    tag: 'Delivery',
    summary: 'Deliver an object of the bucket, unchanged',
    access: 'signature',
    parameters: [DOWNLOAD, ...SIGNATURE, ...CONDITIONS],
    responses: { ...SENT, ...MOVED },
    examples: [
      {
        id: 'original',
        summary: 'An original',
        parameters: { token: EXAMPLE.token, path: EXAMPLE.key },
        status: 200,
      },
    ],
  },
  {
    route: 'GET /v1/:group/info/:token/*path',
    id: 'getFileInformation',
    tag: 'Delivery',
    summary: 'Get information about an original',
    access: 'signature',
    parameters: [flag('location', 'Adds the GPS position of a photo.'), ...SIGNATURE, ...CONDITIONS],
    responses: {
      200: {
        description: 'The information.',
        content: { 'application/json': { schema: fileInformation } },
        headers: [...VALIDATORS],
      },
      206: {
        description: 'The requested byte ranges.',
        content: FILE,
        headers: [...VALIDATORS, 'Content-Range'],
      },
      304: { description: 'The information has not changed.', headers: [...VALIDATORS] },
      ...MOVED,
    },
    examples: [
      {
        id: 'photo',
        summary: 'Information about a photo',
        parameters: { group: 'image', token: EXAMPLE.token, path: EXAMPLE.sourceName },
        status: 200,
        response: {
          sourceName: EXAMPLE.sourceName,
          originalName: 'photo.jpg',
          mimeType: 'image',
          format: 'jpeg',
          mediaType: 'image/jpeg',
          size: 137628,
          sha256: 'a948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447',
          uploadedAt: '2026-11-30T12:00:00.000Z',
          width: 1200,
          height: 800,
          pages: 1,
          hasAlpha: false,
          colorSpace: 'srgb',
          dominantColor: '#b01818',
          thumbHash: '3OcRJYB4d3h/iIeHeEh3eIhw+j3A',
          blurHash: 'LEHV6nWB2yk8pyo0adR*.7kCMdnj',
        },
      },
    ],
  },
  {
    route: 'GET /v1/jobs/:token/*path',
    id: 'getJob',
    tag: 'Delivery',
    summary: 'Get the state of a video or audio job',
    description: 'Clients that accept `text/event-stream` get an event for each change.',
    access: 'signature',
    parameters: SIGNATURE,
    responses: {
      200: {
        description: 'The state of the job.',
        content: {
          'application/json': { schema: mediaJob },
          'text/event-stream': { json: { type: 'string' } },
        },
        headers: ['Cache-Control', 'Vary'],
      },
    },
  },
]

const NOUNS: Readonly<Record<MediaGroup, string>> = {
  image: 'an image',
  video: 'a video',
  audio: 'an audio file',
  text: 'a text file',
  application: 'a file of another type',
}

function wordOf(group: MediaGroup): string {
  return `${group[0]?.toUpperCase()}${group.slice(1)}`
}
