import { MEDIA_GROUPS, type MediaGroup } from '../../../core/media/groups.ts'
import type { DescribedParameters } from '../../../core/plugin-api/describe-parameters.ts'
import { fileInformation } from '../../wire/information.ts'
import { mediaJob } from '../../wire/links.ts'
import type { Endpoint, Parameter } from '../endpoint.ts'
import { EXAMPLE, EXAMPLE_NAMES, fileExamples, IMAGE_EXAMPLES } from '../examples.ts'
import { flag, query } from '../parameters.ts'
import { pluginParameter } from '../plugin-parameters.ts'
import { aliasDelivery } from './alias-delivery.ts'
import { CONDITIONS, FILE, MOVED, SENT, STORED, VALIDATORS } from './sent.ts'

export const SIGNATURE = [
  query('s', 'Signature of a signed URL.'),
  query('exp', 'Expiry of a signed URL, in seconds since 1970.', { type: 'integer', minimum: 0 }),
]
export const DOWNLOAD = query('download', 'Browsers save the file, under this name if it is not empty.')
export const COMMON = [
  DOWNLOAD,
  query('preset', 'A preset: a name for a set of parameters.'),
  query('wait', 'Waits for a media job, in seconds.', { type: 'integer', minimum: 1, maximum: 30 }),
]

/** Delivery of stored files and of files of other servers. Each type of file has its own parameters. */
export function deliveryEndpoints(parameters: DescribedParameters): Endpoint[] {
  const of = (group: MediaGroup): Parameter[] => [
    ...parameters[group].map(pluginParameter),
    ...(group === 'text' ? parameters.application.map(pluginParameter) : []),
    // For documents, whose pages are drawn.
    ...(group === 'text' || group === 'application' ? parameters.image.map(pluginParameter) : []),
    ...COMMON,
    ...SIGNATURE,
    ...CONDITIONS,
  ]
  return [
    ...MEDIA_GROUPS.map((group) => delivered(group, of(group))),
    ...MEDIA_GROUPS.map((group) =>
      aliasDelivery(group, {
        parameters: of(group),
        responses: STORED,
        name: wordOf(group),
        noun: NOUNS[group],
      }),
    ),
    ...FETCHED.map((endpoint) => ({ ...endpoint, parameters: of('image') })),
    ...MEDIA_GROUPS.map((group) => mirrored(group, of(group))),
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
    examples: group === 'image' ? IMAGE_EXAMPLES : fileExamples({ path: EXAMPLE_NAMES[group] }),
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
    examples: fileExamples({ url: EXAMPLE.remoteUrl }),
  }
}

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
    examples: [
      {
        id: 'small',
        summary: '300 px wide',
        parameters: { token: EXAMPLE.token, url: EXAMPLE.remoteUrl, w: '300' },
        status: 200,
      },
    ],
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
          lqip: 'data:image/webp;base64,UklGRlwAAABXRUJQVlA4IFAAAADQAwCdASoQAAsAAUAmJaQAA3AA/u3hAAA=',
        },
      },
    ],
  },
  {
    route: 'GET /v1/jobs/:token/*path',
    id: 'getJob',
    tag: 'Delivery',
    summary: 'Get the state of a media job',
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
    examples: [
      {
        id: 'state',
        summary: 'The job of a smaller video',
        parameters: { token: EXAMPLE.token, path: EXAMPLE.derivativeKey },
        status: 200,
      },
    ],
  },
]

export const NOUNS: Readonly<Record<MediaGroup, string>> = {
  image: 'an image',
  video: 'a video',
  audio: 'an audio file',
  text: 'a text file',
  application: 'a file of another type',
}

export function wordOf(group: MediaGroup): string {
  return `${group[0]?.toUpperCase()}${group.slice(1)}`
}
