// Compiled by package.test.ts, and never run. Each @ts-expect-error fails when there is no error.
import {
  buildUrl,
  createClient,
  createUploader,
  type FileRecord,
  SluiceError,
  srcset,
  type TransformParameters,
  uploadToLink,
  url,
} from 'sluice/client'

declare module 'sluice/client' {
  interface TransformParameters {
    /** As `npx sluice types` writes it. */
    scanlines?: number
  }
}

const client = createClient({ baseUrl: 'https://files.example', secret: 'sec' })
export const secretFunction = createClient({ baseUrl: 'https://files.example', secret: () => undefined })
// @ts-expect-error an installation has an address
createClient({ secret: 'sec' })

export async function files(stream: ReadableStream<Uint8Array>, file: File): Promise<FileRecord> {
  await client.files.upload(stream, { name: 'a', tags: ['a'], transforms: ['w=3', { w: 3, scanlines: 2 }] })
  await client.files.upload({ path: '/a' })
  await client.files.upload(new URL('https://a.example'))
  // @ts-expect-error a text is neither a path nor a URL
  await client.files.upload('photo.jpg')
  // @ts-expect-error tags are texts
  await client.files.upload(file, { tags: [1] })
  for await (const { tags, uploadedAt } of client.files.list({ type: 'image', sort: '-key' }))
    console.log(tags.join(), uploadedAt.slice(1))
  // @ts-expect-error there is no such type
  client.files.list({ type: 'picture' })
  const { info } = (await client.files.upload(file, { info: true })).options
  console.log(info?.thumbHash?.length, info?.exif)
  const [signed] = await client.urls.sign(['a', url('b').width(3)], { expiresIn: 3 })
  console.log(signed?.length, (await client.urls.sign('a')).length)
  // @ts-expect-error a link has a lifetime
  await client.links.create({ folder: 'a' })
  const { upload } = createUploader({ link: async () => (await fetch('/link')).json() })
  await upload(file, { onProgress: ({ sentBytes }) => sentBytes.toFixed() })
  // @ts-expect-error tags need a secret
  return uploadToLink('https://a.example', file, { tags: ['a'] })
}

export function delivery(record: FileRecord): string {
  const parameters: TransformParameters = {
    w: 400,
    f: 'auto',
    ar: '16:9',
    pad: [1, 2],
    flip: true,
    preset: 'a',
  }
  // @ts-expect-error a width is a number
  buildUrl(record, { w: '400' })
  // @ts-expect-error there is no such format
  buildUrl(record, { f: 'heic' })
  // @ts-expect-error there is no such parameter
  buildUrl(record, { wdth: 400 })
  // @ts-expect-error there is no such parameter
  url(record).wdth(400)
  // @ts-expect-error the widths set it
  srcset(record, [300], { w: 3 })
  const image: string = url(record).width(400).format('auto').scanlines(3).with(parameters).toString()
  return image + srcset(record.src, [320], { q: 50 })
}

export function failure(error: unknown): number | undefined {
  if (!(error instanceof SluiceError)) return undefined
  // Known codes are suggested, others are allowed.
  if (error.code === 'rate_limited' || error.code === 'a_new_code') return error.retryAfter
  return error.problem?.maxBytes
}
