import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { root } from '../ready/run.js'

const PASSWORD = 'only for the screenshots'

/** Signs in as the first owner, Ada. @returns requests as the console sends them, and the cookie */
export async function signInAsOwner({ url, env }) {
  const { stdout } = await promisify(execFile)('sh', ['scripts/sluice.sh', 'sign-in-link', '--json'], {
    cwd: root,
    env,
  })
  const { link } = JSON.parse(stdout.trim().split('\n').at(-1))
  const session = { cookie: '' }
  const send = async (method, path, body, client) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        'Sluice-Console': '1',
        'Content-Type': 'application/json',
        ...(session.cookie ? { Cookie: session.cookie } : {}),
        ...(client ? { 'Sluice-Client': client } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    if (!response.ok)
      throw new Error(`${method} ${path} returned ${response.status}: ${await response.text()}`)
    const [cookie] = response.headers.getSetCookie()
    if (cookie) session.cookie = cookie.split(';')[0]
    return response.status === 204 ? undefined : response.json()
  }
  const choice = { email: 'ada@example.com', name: 'Ada Lovelace', password: PASSWORD }
  await send('PUT', '/v1/session/link', { link: new URL(link).hash.slice(1), ...choice })
  return Object.assign(session, { send })
}

/** Further clients, members and presets, whose changes are also in the audit log. */
export async function fillInstallation({ send }) {
  await send('PATCH', '/v1/clients/first', { name: 'Studio', rules: { keepDeletedSeconds: 30 * 86_400 } })
  const { id } = await send('POST', '/v1/clients', { name: 'Shop' })
  const { id: magazine } = await send('POST', '/v1/clients', { name: 'Magazine' })
  await send('POST', '/v1/members', { email: 'grace@example.com', role: 'editor', clients: ['first', id] })
  await send('POST', '/v1/members', { email: 'linus@example.com', role: 'viewer', clients: [id] })
  await send('POST', '/v1/members', { email: 'katherine@example.com', role: 'owner' })
  const presets = { square: 'w=320&h=320&f=webp', hero: 'w=1600&h=700', card: 'w=640&f=auto' }
  for (const [name, parameters] of Object.entries(presets))
    await send('PUT', `/v1/presets/${name}`, { group: 'image', parameters }, 'first')
  return { shop: id, magazine }
}
