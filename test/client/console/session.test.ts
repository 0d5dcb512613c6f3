import { expect } from 'chai'
import { createClient } from '../../../client/index.ts'
import { onOneBackend } from '../../support/backends.ts'
import { browser, firstOwner, newMember, PASSWORD, tokenIn } from '../../support/console/browser.ts'
import { picture } from '../../support/media/images.ts'
import { rejection } from '../../support/rejection.ts'
import type { Service } from '../../support/service.ts'

/** The client library as a page of the console has it: this fetch stores the cookie, as browsers do. */
function consoleOf(
  { url }: Service,
  { clientId, ...session }: Parameters<typeof createClient>[0]['session'] = {},
) {
  const jar = { cookie: '' }
  const fetchWithCookie: typeof fetch = async (input, init = {}) => {
    const headers = new Headers(init.headers)
    if (jar.cookie && init.credentials !== 'omit') headers.set('Cookie', jar.cookie)
    const response = await fetch(input, { ...init, headers })
    const [pair = ''] = response.headers.getSetCookie()
    if (pair) jar.cookie = pair.split(';')[0] ?? ''
    return response
  }
  const client = createClient({
    baseUrl: url,
    fetch: fetchWithCookie,
    session: { ...session, ...(clientId === undefined ? {} : { clientId }) },
  })
  return { client, jar }
}

onOneBackend('the session of the client library', (start) => {
  let service: Service
  before(async () => {
    service = await start()
    await firstOwner(service)
  })

  it('acts for a client, until it signs out', async () => {
    const { client } = consoleOf(service, { clientId: 'first' })
    expect(await rejection(client.sessions.get())).to.include({ status: 401 })
    const session = await client.sessions.signIn({ email: 'owner@example.com', password: PASSWORD })
    expect(session.member).to.include({ name: 'Ada', role: 'owner' })
    expect((await client.sessions.get()).clients.map(({ id }) => id)).to.deep.equal(['first'])

    const record = await client.files.upload(new File([await picture()], 'a.png'))
    expect(await client.usage()).to.include({ files: 1, storedBytes: record.size })
    expect((await client.clients.list()).map(({ id }) => id)).to.deep.equal(['first'])

    expect((await client.sessions.update({ name: 'Ada L.' })).member.name).to.equal('Ada L.')
    await client.sessions.signOut({ everywhere: true })
    expect(await rejection(client.sessions.get())).to.include({ status: 401 })
  })

  it('manages members, and accepts an invitation', async () => {
    const { client } = consoleOf(service)
    await client.sessions.signIn({ email: 'owner@example.com', password: PASSWORD })
    const { member, link } = await client.members.invite({ email: 'bob@example.com', role: 'viewer' })
    expect((await client.members.list()).map(({ email }) => email)).to.include('bob@example.com')
    expect((await client.members.update(member.id, { role: 'editor' })).role).to.equal('editor')
    const other = consoleOf(service).client
    expect(await other.sessions.link(tokenIn(link))).to.include({ purpose: 'invitation', role: 'editor' })
    const accepted = await other.sessions.acceptLink({ link: tokenIn(link), name: 'Bob', password: PASSWORD })
    expect(accepted.member).to.include({ name: 'Bob', role: 'editor' })
    expect(await client.members.createLink(member.id)).to.have.all.keys('link', 'expiresAt')
    await client.members.remove(member.id)
    expect(await rejection(other.sessions.get())).to.include({ status: 401 })
  })

  it('waits for a sign-in, then sends the call again', async () => {
    const owner = browser(service)
    await owner.signIn('owner@example.com')
    const viewer = await newMember(service, owner, { email: 'vera@example.com', role: 'viewer' })
    const calls: unknown[] = []
    const { client, jar } = consoleOf(service, {
      clientId: 'first',
      onSignedOut: async (signal) => {
        calls.push(signal)
        if (calls.length > 2) throw new Error('signed out')
        jar.cookie = viewer.cookie
      },
    })
    await client.usage()
    expect(calls).to.have.length(1)
    expect(await rejection(client.files.delete({ s3PathOriginal: 'x' })), 'another error').to.include({
      status: 403,
    })
    expect(calls).to.have.length(1)
    jar.cookie = ''
    const wrong = client.sessions.signIn({ email: 'vera@example.com', password: 'a wrong password' })
    expect(await rejection(wrong)).to.include({ code: 'wrong_password' })
    expect(calls).to.have.length(1)
    calls.push(0)
    expect(await rejection(client.usage())).to.include({ message: 'signed out' })
  })
})
