import { expect } from 'chai'
import type { Client } from '../../../src/core/clients/client.ts'
import { newFileId, newOriginal } from '../../../src/core/files/object-key.ts'
import { knownFormat } from '../../../src/core/media/formats.ts'
import { parseTarget } from '../../../src/core/net/query.ts'
import { readSignedUrl } from '../../../src/core/signing/signed-url.ts'
import { createOriginalEvents } from '../../../src/service/originals/original-events.ts'

const urlKey = { version: 3, key: 'the key of these tests' }
const client: Client = { id: 'first', token: 'pub_first', secrets: [], createdAt: 0 }

describe('the src in events of originals', () => {
  /** The events of a file in this folder, for a client with these rules. */
  function eventOf(folder: string, rules: Client['rules']) {
    const emitted: Array<{ src?: string; srcExpires?: string }> = []
    const events = createOriginalEvents({
      events: { emit: (_: string, data: object) => emitted.push(data) } as never,
      baseUrl: 'https://files.example/base',
      urlKeys: { newest: () => urlKey },
    })
    const { key } = newOriginal({ folder, format: knownFormat('png'), id: newFileId() })
    const facts = { originalName: 'a.png', mediaType: 'image/png', size: 1, sha256: '', storedAt: 0 }
    events.stored({ ...client, ...(rules ? { rules } : {}) }, { key, ...facts })
    return emitted[0] ?? {}
  }

  it('is signed for a day, for files that need a signed URL', () => {
    for (const [folder, rules] of [
      ['', { signedUrls: true }],
      ['private/ü', { privateFolders: ['private'] }],
    ] as const) {
      const { src = '', srcExpires = '' } = eventOf(folder, rules)
      expect(src).to.match(/^https:\/\/files\.example\/base\/v1\/image\/upload\/pub_first\//)
      const now = Date.now()
      expect((Date.parse(srcExpires) - now) / 1000).to.be.within(86_300, 86_400)
      const target = parseTarget(src.slice('https://files.example/base'.length))
      const { url } = readSignedUrl(target, {
        findKey: (version) => (version === 3 ? urlKey.key : undefined),
        now,
      })
      expect(url).to.include({ state: 'signed', until: Date.parse(srcExpires) })
    }
  })

  it('is not signed for other files', () => {
    const event = eventOf('public', { privateFolders: ['private'] })
    expect(event.src).not.to.include('?')
    expect(event).not.to.have.property('srcExpires')
  })
})
