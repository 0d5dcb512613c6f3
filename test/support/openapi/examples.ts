import { randomUUID } from 'node:crypto'
import type { DocumentedEndpoint, Example } from '../../../src/http/documents/endpoint.ts'
import { EXAMPLE } from '../../../src/http/documents/examples.ts'
import { documentedPath, parametersOf } from '../../../src/http/documents/openapi/operation.ts'
import { methodOf } from '../../../src/http/endpoint/route.ts'
import { browser, tokenIn } from '../console/browser.ts'
import { picture } from '../media/images.ts'
import { type Answer, exchange } from '../requests/exchange.ts'
import type { Service } from '../service.ts'
import { type ExampleFiles, prepared } from './prepared.ts'

/** The `METRICS_TOKEN` of a service that gets examples. */
export const METRICS_TOKEN = 'of-the-metrics-alone'

/** A client with one stored photo, as the examples of the API document have it. */
interface Shop {
  id: string
  token: string
  secret: string
  admin: string
  key: string
  sourceName: string
  /** Further values of examples, with their real values. */
  more: Record<string, string>
}

/** Sends the examples of the API document. */
export interface ExampleSender {
  /** Sends an example for a client with the values of that client: a new one, if its response depends on the client. */
  send(endpoint: DocumentedEndpoint, example: Example): Promise<Answer>
}

/** @param service has an ADMIN_PASSWORD: `password`; it may fetch from the server of `files`, and has the foreign prefix `legacy` */
export async function exampleSender(
  service: Service,
  { password, files }: { password: string; files: ExampleFiles },
): Promise<ExampleSender> {
  const photo = await picture({ width: 600, height: 400, format: 'jpeg' })
  const form = () => {
    const made = new FormData()
    made.append('file', new Blob([photo]), 'photo.jpg')
    return made
  }
  const json = { 'Content-Type': 'application/json' }
  const signedIn = await fetch(`${service.url}/v1/sign-in`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ password }),
  })
  const { token: admin } = (await signedIn.json()) as { token: string }

  async function newShop(): Promise<Shop> {
    const created = await fetch(`${service.url}/v1/clients`, {
      method: 'POST',
      headers: { ...json, Authorization: `Bearer ${admin}` },
      body: JSON.stringify({ name: 'Shop' }),
    })
    const client = (await created.json()) as { id: string; clientToken: string; secretClientToken: string }
    const body = form()
    body.append('tags', '["holiday"]')
    body.append('metadata', '{"album": "Lisbon"}')
    const headers = { Authorization: client.secretClientToken }
    const stored = await fetch(`${service.url}/v1/upload`, { method: 'POST', headers, body })
    const [record] = (await stored.json()) as Array<{ s3PathOriginal: string; sourceName: string }>
    if (!record) throw new Error('the upload of the photo has failed')
    const { s3PathOriginal: key, sourceName } = record
    return {
      id: client.id,
      token: client.clientToken,
      secret: client.secretClientToken,
      admin,
      key,
      sourceName,
      more: {},
    }
  }

  async function authorization(
    { access }: DocumentedEndpoint,
    { secret, admin }: Shop,
  ): Promise<Record<string, string>> {
    if (access === 'metrics') return { Authorization: `Bearer ${METRICS_TOKEN}` }
    if (access === 'session') {
      const operator = browser(service)
      await operator.signIn(undefined, password)
      return { 'Sluice-Console': '1', Cookie: operator.cookie }
    }
    if (typeof access === 'string' && access !== 'admin') return {}
    return { Authorization: `Bearer ${access === 'admin' ? admin : secret}` }
  }

  let common: Promise<Shop> | undefined
  /** A new client, unless the endpoint reads nothing of clients with their tokens. */
  function shopFor(endpoint: DocumentedEndpoint): Promise<Shop> {
    const isOfClients =
      methodOf(endpoint.route) !== 'GET' ||
      typeof endpoint.access === 'object' ||
      endpoint.access.startsWith('signature') ||
      documentedPath(endpoint).includes('{token}')
    if (isOfClients) return newShop()
    common ??= newShop()
    return common
  }

  return {
    async send(endpoint, example) {
      const shop = await shopFor(endpoint)
      Object.assign(
        shop.more,
        await prepared(service, endpoint.id, { clientId: shop.id, secret: shop.secret, files }),
      )
      if (/^(?!get(Video|Audio|Text|Application)).*Alias|^get\w+Url$/.test(endpoint.id))
        await replaced(service, shop, photo)
      if (MEMBER.test(endpoint.id)) Object.assign(shop.more, await invited(service, shop))
      // A client with files is not deleted.
      if (endpoint.id === 'deleteClient') await deleted(service, shop)
      const { bytes, headers } = await bodyOf(endpoint, example, { shop, form, photo })
      return exchange(service, targetOf(endpoint, example, shop), {
        method: methodOf(endpoint.route),
        headers: {
          ...headers,
          ...(await authorization(endpoint, shop)),
          ...headersOf(endpoint, example, shop),
        },
        ...(bytes === undefined ? {} : { body: bytes }),
      })
    },
  }
}

/** Endpoints whose examples have a member, or the link of the invitation of one. */
const MEMBER = /^(update|remove|link)Member$|MemberLink$/

/** Invites the member of the examples. */
async function invited(service: Service, { admin, id }: Shop): Promise<Record<string, string>> {
  const response = await exchange(service, '/v1/members', {
    method: 'POST',
    headers: { Authorization: `Bearer ${admin}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: `${randomUUID()}@example.com`, role: 'editor', clients: [id] }),
  })
  const { member, link } = JSON.parse(response.body.toString())
  return { [EXAMPLE.memberId]: member.id, [EXAMPLE.memberLink]: tokenIn(link) }
}

async function deleted(service: Service, { key, secret }: Shop): Promise<void> {
  await exchange(service, `/v1/upload/${key}`, { method: 'DELETE', headers: { Authorization: secret } })
}

/** Sets the alias of the examples to another photo, then to the stored one. */
async function replaced(service: Service, { key, secret }: Shop, photo: Uint8Array): Promise<void> {
  const headers = { Authorization: secret }
  const other = await exchange(service, '/v1/upload/former.jpg', { method: 'PUT', headers, body: photo })
  const [{ s3PathOriginal }] = JSON.parse(other.body.toString())
  for (const file of [s3PathOriginal, key])
    await exchange(service, `/v1/aliases/${EXAMPLE.alias}`, {
      method: 'PUT',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify({ file }),
    })
}

/** The text with the values of a real client instead of those of the examples. */
function real(text: string, { id, token, key, sourceName, more }: Shop): string {
  return Object.entries(more)
    .reduce((replaced, [shown, value]) => replaced.replaceAll(shown, value), text)
    .replaceAll(EXAMPLE.key, key)
    .replaceAll(EXAMPLE.sourceName, sourceName)
    .replaceAll(EXAMPLE.token, token)
    .replaceAll(EXAMPLE.clientId, id)
}

function targetOf(endpoint: DocumentedEndpoint, { parameters = {} }: Example, shop: Shop): string {
  const query = new URLSearchParams()
  let path = documentedPath(endpoint)
  const unknown = Object.keys(parameters).find(
    (name) => !parametersOf(endpoint).some((one) => one.name === name),
  )
  if (unknown !== undefined) throw new Error(`${endpoint.id} has no parameter ${unknown}`)
  for (const { in: place, name } of parametersOf(endpoint)) {
    const value = real(parameters[name] ?? '', shop)
    // As generated clients do: a slash becomes %2F.
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value))
    if (place === 'query' && name in parameters) query.set(name, value)
  }
  return query.size > 0 ? `${path}?${query}` : path
}

function headersOf(
  endpoint: DocumentedEndpoint,
  { parameters = {} }: Example,
  shop: Shop,
): Record<string, string> {
  const given = parametersOf(endpoint).filter(
    ({ in: place, name }) => place === 'header' && name in parameters,
  )
  return Object.fromEntries(given.map(({ name }) => [name, real(parameters[name] ?? '', shop)]))
}

async function bodyOf(
  { body: accepted = {} }: DocumentedEndpoint,
  { body, mediaType = Object.keys(accepted)[0] }: Example,
  { shop, form, photo }: { shop: Shop; form: () => FormData; photo: Uint8Array },
): Promise<{ bytes?: Uint8Array | string; headers: Record<string, string> }> {
  if (body === undefined || mediaType === undefined) return { headers: {} }
  if (mediaType === 'multipart/form-data') {
    const encoded = new Response(form())
    const bytes = new Uint8Array(await encoded.arrayBuffer())
    return { bytes, headers: { 'Content-Type': encoded.headers.get('content-type') ?? '' } }
  }
  const headers = { 'Content-Type': mediaType }
  if (mediaType === 'application/offset+octet-stream') return { bytes: String(body), headers }
  return /json$/.test(mediaType)
    ? { bytes: real(JSON.stringify(body), shop), headers }
    : { bytes: photo, headers }
}
