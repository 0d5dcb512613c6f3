import { EXAMPLE } from '../../../src/http/documents/examples.ts'
import { exchange } from '../requests/exchange.ts'
import type { Service } from '../service.ts'

/** Creates what the example of an endpoint needs. @returns values of the examples with those of this client */
export async function prepared(
  service: Service,
  endpointId: string,
  { clientId, secret }: { clientId: string; secret: string },
): Promise<Readonly<Record<string, string>>> {
  const send = (path: string, headers: Record<string, string>, body?: string) =>
    exchange(service, path, {
      method: 'POST',
      headers: { Authorization: secret, ...headers },
      ...(body === undefined ? {} : { body }),
    })
  switch (endpointId) {
    case 'signUrl':
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
    case 'uploadFileByLink':
    case 'uploadFormByLink': {
      const json = { 'Content-Type': 'application/json' }
      const body = JSON.stringify({ folder: 'avatars', expiresIn: 3600 })
      const { url } = JSON.parse((await send('/v1/sign', json, body)).body.toString()) as { url: string }
      const [id = '', signature = ''] = new URL(url).pathname.split('/').slice(-3)
      return { [EXAMPLE.linkId]: id, [EXAMPLE.linkSignature]: signature }
    }
    default:
      return {}
  }
}
