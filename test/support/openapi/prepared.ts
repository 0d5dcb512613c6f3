import { Readable } from 'node:stream'
import { storedKey } from '../../../src/core/files/object-key.ts'
import { MEDIA_GROUPS, type MediaGroup } from '../../../src/core/media/groups.ts'
import { signFolder } from '../../../src/core/signing/signed-folder.ts'
import { EXAMPLE, EXAMPLE_NAMES } from '../../../src/http/documents/examples.ts'
import { exchange } from '../requests/exchange.ts'
import type { Service } from '../service.ts'

/** A file of each type, and its URL on another server. */
export interface ExampleFiles {
  bytes: Readonly<Record<MediaGroup, Buffer>>
  urlOf(group: MediaGroup): string
}

/** Creates what the example of an endpoint needs. @returns values of the examples with those of this client */
export async function prepared(
  service: Service,
  endpointId: string,
  { clientId, secret, files }: { clientId: string; secret: string; files: ExampleFiles },
): Promise<Readonly<Record<string, string>>> {
  const send = (path: string, headers: Record<string, string>, body?: string) =>
    exchange(service, path, {
      method: 'POST',
      headers: { Authorization: secret, ...headers },
      ...(body === undefined ? {} : { body }),
    })
  const group = MEDIA_GROUPS.find((one) => endpointId.toLowerCase().includes(one))
  if (group !== undefined && /^get(Video|Audio|Text|Application)(ByAlias)?$/.test(endpointId)) {
    const name = EXAMPLE_NAMES[group]
    const headers = { Authorization: secret }
    const stored = await exchange(service, `/v1/upload/${name}`, {
      method: 'PUT',
      headers,
      body: files.bytes[group],
    })
    const [{ sourceName, s3PathOriginal }] = JSON.parse(stored.body.toString())
    const json = { ...headers, 'Content-Type': 'application/json' }
    const body = JSON.stringify({ file: s3PathOriginal })
    await exchange(service, `/v1/aliases/${EXAMPLE.alias}`, { method: 'PUT', headers: json, body })
    return { [name]: sourceName }
  }
  if (group !== undefined && /AndStore$|^getRemoteImage$/.test(endpointId)) {
    await service.app.clients.setRules(clientId, { fetchHosts: ['127.0.0.1'] })
    return { [EXAMPLE.remoteUrl]: files.urlOf(group) }
  }
  if (group !== undefined && endpointId.startsWith('getForeign')) {
    const bucket = service.storage.buckets.of({ id: clientId, token: '' })
    const bytes = Readable.from([files.bytes[group]])
    await bucket.put(storedKey(EXAMPLE.foreignPath), bytes, { mediaType: 'application/octet-stream' })
    return {}
  }
  switch (endpointId) {
    case 'beginPasskeySignIn':
      return { [EXAMPLE.baseUrl]: service.url }
    case 'getJob':
    case 'retryJob':
    case 'cancelJob': {
      const headers = { Authorization: secret }
      const path = `/v1/upload/${EXAMPLE_NAMES.video}`
      const stored = await exchange(service, path, { method: 'PUT', headers, body: files.bytes.video })
      const [{ src }] = JSON.parse(stored.body.toString())
      const { body } = await exchange(service, `${new URL(src).pathname}?w=32`)
      const [, key = ''] = /\/v1\/jobs\/[^/]+\/(.+)$/.exec(JSON.parse(body.toString()).job) ?? []
      const derivative = decodeURIComponent(key)
      const jobId = Buffer.from(derivative).toString('base64url')
      return { [EXAMPLE.derivativeKey]: derivative, [EXAMPLE.jobId]: jobId }
    }
    case 'setFolderCookie': {
      const { urlKey } = await service.app.clients.addUrlKey(clientId)
      const until = Math.floor(Date.now() / 1000) + 3600
      const value = signFolder(
        { token: service.app.clients.withId(clientId).token, folder: 'gallery', until },
        urlKey,
      )
      return { [EXAMPLE.folderCookie]: value }
    }
    case 'signUrl':
    case 'createFolderCookie':
    case 'removeUrlKey':
      await service.app.clients.addUrlKey(clientId)
      return {}
    case 'removeSecret': {
      const added = await service.app.clients.addSecret(clientId, { scope: { only: 'upload' } })
      return { [EXAMPLE.secretId]: String(added.stored.id) }
    }
    case 'appendToResumableUpload':
    case 'getResumableUploadOffset':
    case 'getResumableUpload':
    case 'deleteResumableUpload': {
      const { headers } = await send('/v1/tus', { 'Tus-Resumable': '1.0.0', 'Upload-Length': '11' })
      return { [EXAMPLE.uploadId]: String(headers.location).split('/').at(-1) ?? '' }
    }
    case 'completeDirectUpload':
    case 'abortDirectUpload': {
      const json = { 'Content-Type': 'application/json' }
      const begun = await send('/v1/upload/direct', json, '{"name": "hello.txt", "size": 11}')
      // On a disk, there is no such upload.
      if (begun.status !== 201) return {}
      const { id, requests } = JSON.parse(begun.body.toString())
      const { url, headers, method } = requests[0]
      await fetch(url, { method, headers, body: 'hello world' })
      return { [EXAMPLE.directId]: id }
    }
    case 'uploadFileByLink':
    case 'uploadFormByLink': {
      const json = { 'Content-Type': 'application/json' }
      const body = JSON.stringify({ folder: 'avatars', expiresIn: 3600 })
      const { url } = JSON.parse((await send('/v1/sign', json, body)).body.toString()) as { url: string }
      const [id = '', signature = ''] = new URL(url).pathname.split('/').slice(-3)
      return { [EXAMPLE.linkId]: id, [EXAMPLE.linkSignature]: signature }
    }
    case 'getArchive': {
      const json = { 'Content-Type': 'application/json' }
      const body = JSON.stringify({ files: [{ path: 'a.png' }], archiveName: 'photos.zip' })
      const { url } = JSON.parse((await send('/v1/zip/links', json, body)).body.toString()) as { url: string }
      return { [EXAMPLE.archiveLinkId]: new URL(url).pathname.split('/')[3] ?? '' }
    }
    default:
      return {}
  }
}
