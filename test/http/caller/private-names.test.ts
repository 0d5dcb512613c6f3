import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { type Caller, newClient, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'

// One character, and the letter with a combining accent. Both look the same.
const COMPOSED = 'priv\u00e9'
const DECOMPOSED = 'prive\u0301'

onOneBackend('names of private folders', (start) => {
  let service: Service
  let client: Caller & { id: string }
  const files = new Map<string, WireRecord>()
  before(async () => {
    service = await start()
    client = await newClient(service)
    await service.app.clients.addUrlKey(client.id)
    for (const folder of [COMPOSED, DECOMPOSED, COMPOSED.toUpperCase(), 'prive'])
      files.set(folder, await uploadOne(client, { name: 'a.txt', bytes: 'text' }, { path: `${folder}/deep` }))
  })

  const responseTo = async (path: string) => {
    const { status, body } = await exchange(service, path)
    return [status, status === 200 ? body.toString() : jsonOf({ body }).code]
  }
  const targetsOf = ({ sourceName }: WireRecord, folder: string) => {
    const token = client.tokens.clientToken
    const full = `${encodeURIComponent(folder)}/deep/text/txt/${sourceName}`
    return [
      `/v1/text/upload/${token}/${full}`,
      `/v1/text/upload/${token}/${full.replace('priv', '%70%72iv').replace('/deep', '%2Fdeep')}`,
      `/v1/text/upload/${token}/${full.replaceAll('%C', '%c')}`,
      `/v1/text/upload/${token}/${encodeURIComponent(folder)}/deep/${sourceName}`,
      `/v1/bucket/${token}/${full}`,
      `/v1/text/info/${token}/${full}`,
    ]
  }

  for (const [form, folder] of [
    ['composed', COMPOSED],
    ['decomposed', DECOMPOSED],
  ] as const)
    it(`are the same for a request in any form and case: ${form}`, async () => {
      await service.app.clients.setRules(client.id, { privateFolders: [folder] })
      for (const name of [COMPOSED, DECOMPOSED, COMPOSED.toUpperCase(), DECOMPOSED.toUpperCase()])
        for (const record of files.values())
          for (const target of targetsOf(record, name))
            expect(await responseTo(target), target).to.deep.equal([403, 'url_unsigned'])
    })

  it('differ from the name without its accent', async () => {
    await service.app.clients.setRules(client.id, { privateFolders: [COMPOSED] })
    const [open] = targetsOf(files.get('prive') as WireRecord, 'prive')
    expect(await responseTo(String(open))).to.deep.equal([200, 'text'])
  })

  it('need a signature of the form in which the file was stored', async () => {
    await service.app.clients.setRules(client.id, { privateFolders: [COMPOSED] })
    for (const folder of [COMPOSED, DECOMPOSED]) {
      const { pathname } = new URL(String(files.get(folder)?.src))
      const json = { url: pathname, expiresIn: 60 }
      const signed = await exchange(service, '/v1/sign/url', {
        method: 'POST',
        headers: { Authorization: client.tokens.secretClientToken, 'Content-Type': 'application/json' },
        body: JSON.stringify(json),
      })
      const { pathname: path, search: signature } = new URL(String(jsonOf(signed).url))
      expect(await responseTo(path + signature), folder).to.deep.equal([200, 'text'])
      const other = folder === COMPOSED ? DECOMPOSED : COMPOSED
      const forged = path.replace(encodeURIComponent(folder), encodeURIComponent(other)) + signature
      expect((await exchange(service, forged)).status, forged).to.equal(403)
    }
  })
})
