import type { MediaGroup } from '../../core/media/groups.ts'

/**
 * Values in the examples of the API document. The tests replace each by a value of a real service, so one value has one meaning.
 */
export const EXAMPLE = {
  baseUrl: 'https://files.example.com',
  token: 'pub_BGzBRZvqf3Sz6MBFMYDeCd',
  /** A stored JPEG without a folder. */
  sourceName: '7JAiMJ5xg1xH6JYSiPjo5R.jpg',
  key: 'image/jpeg/7JAiMJ5xg1xH6JYSiPjo5R.jpg',
  /** An alias of the stored JPEG, with two versions. */
  alias: 'products/chair.jpg',
  clientId: '4dRXvHqZy8C',
  secretId: '2pNfQ9WqLkJ',
  memberId: '9hVcT5sRmDw',
  /** The token of an invitation of this member. */
  memberLink: 'lnk_eyJtIjoiOWhWY1Q1c1JtRHcifQ.c2lnbmF0dXJlLW9mLXRoaXMtZXhhbXBsZS1saW5rLTA',
  /** A resumable upload of 11 bytes, of which none has arrived. */
  uploadId: '3cVZpXkTqJ7wRb2n',
  /** A direct upload of 11 bytes, which the bucket has received. */
  directId: '6tRmWq2ZbYkXvJ9sHdPn4c',
  /** A signed upload link. */
  linkId: '5bX2mT8',
  /** The value of a signed cookie. */
  folderCookie: '1.1796040000.c2lnbmF0dXJlLW9mLXRoaXMtZXhhbXBsZS1jb29raWU.Z2FsbGVyeQ',
  /** A link to an archive. */
  archiveLinkId: '4nWq8LzKc2RtYbXp6sVd1J',
  /** A derivative of a stored video. */
  derivativeKey: 'video/mp4/2gHfJ8KcVt5QwXzP9nRbLd.mp4_w=320',
  /** The job of this derivative. */
  jobId: 'dmlkZW8vbXA0LzJnSGZKOEtjVnQ1UXdYelA5blJiTGQubXA0X3c9MzIw',
  /** A file of another server. */
  remoteUrl: 'https://example.com/photo',
  /** An object of another system. */
  foreignPath: 'legacy/chair',
  /** The signature of the upload link, in its parts. */
  linkSignature: 'first.tr4x2k.2z6c0..1.WmY0Zjh1c2lnbmF0dXJlLW9mLXRoaXMtZXhhbXBsZQ',
} as const

const { baseUrl, token, sourceName, key } = EXAMPLE

/** The record of the stored JPEG. */
export const EXAMPLE_RECORD = {
  sourceName,
  src: `${baseUrl}/v1/image/upload/${token}/${sourceName}`,
  originalSrc: `${baseUrl}/v1/bucket/${token}/${key}`,
  originalName: 'photo.jpg',
  s3PathOriginal: key,
  s3Path: key,
  options: {},
  size: 137628,
  mimeType: 'image',
  format: 'jpeg',
}

/** The same file, as lists have it. */
export const EXAMPLE_FILE = {
  ...EXAMPLE_RECORD,
  mediaType: 'image/jpeg',
  sha256: 'a948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447',
  uploadedAt: '2026-11-30T12:00:00.000Z',
  tags: ['holiday'],
  metadata: { album: 'Lisbon' },
}

/** A stored file of each type. */
export const EXAMPLE_NAMES: Readonly<Record<MediaGroup, string>> = {
  image: sourceName,
  video: '2gHfJ8KcVt5QwXzP9nRbLd.mp4',
  audio: '4mYkT6DsWq3ZxCvB7nLpRf.mp3',
  text: '6pNrU4FhEy2AzGwK8mTsQj.txt',
  application: '8qSvX3JkHu5BcMyN6rPdWt.pdf',
}

/** A request for a file without transformations, which has these parameters in its URL. */
export function fileExamples(parameters: Readonly<Record<string, string>>) {
  return [
    {
      id: 'file',
      summary: 'The file, unchanged',
      parameters: { token: EXAMPLE.token, ...parameters },
      status: 200,
    },
  ]
}

/** Requests for the stored JPEG, transformed. */
export const IMAGE_EXAMPLES = [
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
