import { expect } from 'chai'
import { createClient } from '../../../client/index.ts'
import { onOneBackend } from '../../support/backends.ts'
import { firstOwner, newMember } from '../../support/console/browser.ts'
import { rejection } from '../../support/rejection.ts'
import { ADMIN_PASSWORD } from '../../support/requests/admin.ts'
import { deleteFile, newClient, uploadOne } from '../../support/requests/client.ts'

onOneBackend('GET /v1/audit', (start) => {
  it('has the changes by members and owners, and not those by programs', async () => {
    const service = await start()
    const owner = await firstOwner(service)
    const created = await owner.send('POST', '/v1/clients', { name: 'Shop' })
    const shop = String(created.json.id)
    await owner.send('PATCH', `/v1/clients/${shop}`, { rules: { variantLimit: 7 } })
    await owner.send('PATCH', `/v1/clients/${shop}`, { rules: { variantLimit: -7 } })
    await owner.send('POST', `/v1/clients/${shop}/rotate`)
    const caller = { ...service, tokens: created.json }
    const file = await uploadOne(caller, { name: 'a.txt', bytes: 'text' })
    const other = await uploadOne(caller, { name: 'b.txt', bytes: 'text' })
    const editor = await newMember(service, owner, { email: 'grace@example.com', role: 'editor' })
    const as = { 'Sluice-Client': shop }
    await editor.send('PATCH', `/v1/files/${file.s3PathOriginal}`, { tags: ['new'] }, as)
    await editor.send('DELETE', `/v1/upload/${file.s3PathOriginal}`, undefined, as)
    await editor.send('PUT', '/v1/presets/card', { group: 'image', parameters: 'w=20' }, as)
    await editor.send('POST', '/v1/files/delete', { paths: [other.s3PathOriginal] }, as)
    await editor.send('POST', '/v1/clients', { name: 'Forbidden' })

    const { status, json } = await owner.send('GET', `/v1/audit?client=${shop}`)
    expect(status).to.equal(200)
    const found = json.entries.map(({ action, member, target }: Record<string, { name: string }>) => [
      action,
      member?.name,
      target,
    ])
    expect(found).to.deep.equal([
      ['file.delete', 'grace', other.s3PathOriginal],
      ['preset.save', 'grace', 'card'],
      ['file.delete', 'grace', file.s3PathOriginal],
      ['file.update', 'grace', file.s3PathOriginal],
      ['secret.rotate', 'Ada', shop],
      ['client.update', 'Ada', shop],
      ['client.create', 'Ada', shop],
    ])
    expect(json.entries[5].details).to.deep.equal({ changed: 'variantLimit' })
    expect(json.entries[0].address).to.equal('127.0.0.1')
    expect(json.next).to.equal(undefined)
    const ofGrace = await owner.send('GET', `/v1/audit?member=${editor.id}&limit=2`)
    expect(ofGrace.json.entries).to.have.length(2)
    const rest = await owner.send('GET', `/v1/audit?member=${editor.id}&cursor=${ofGrace.json.next}`)
    expect([...ofGrace.json.entries, ...rest.json.entries].map(({ action }) => action)).to.deep.equal([
      'file.delete',
      'preset.save',
      'file.delete',
      'file.update',
      'session.use-link',
    ])
    const { json: all } = await owner.send('GET', '/v1/audit')
    const actions = all.entries.map(({ action }: { action: string }) => action)
    expect(actions).to.include.members(['member.invite', 'session.use-link'])
    expect(JSON.stringify(all)).to.not.match(/sec_|lnk_|ses_/)
  })

  it('is for owners only', async () => {
    const service = await start({ env: { ADMIN_PASSWORD } })
    const client = createClient({ baseUrl: service.url })
    expect(await rejection(client.audit.page())).to.include({ status: 401, code: 'not_signed_in' })
    await client.clients.signIn(ADMIN_PASSWORD)
    await client.clients.create({ name: 'a' })
    await deleteFile(await newClient(service), 'none')
    const actions: string[] = []
    for await (const { action, member } of client.audit.list({ limit: 1 })) {
      actions.push(action)
      expect(member?.id).to.equal('operator')
    }
    expect(actions).to.deep.equal(['client.create', 'session.sign-in'])
    expect(await rejection(client.audit.page({ cursor: 'abc' }))).to.include({ status: 400 })
    const secret = createClient({ baseUrl: service.url, adminToken: service.tokens.secretClientToken })
    expect(await rejection(secret.audit.page())).to.include({ status: 401 })
  })
})
