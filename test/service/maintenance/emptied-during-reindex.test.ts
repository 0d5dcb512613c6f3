import { expect } from 'chai'
import { command } from '../../support/command.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { type Service, startService } from '../../support/service.ts'
import { listAll } from '../../support/stored/files.ts'

describe('an index that is replaced by an empty one', () => {
  let service: Service
  let noted: string[]
  let run: (() => string) | undefined
  let afterPage: (() => Promise<void>) | undefined
  let isComplete = true
  before(async () => {
    service = await startService({
      wrapStorage: ({ buckets, index }) => ({
        buckets,
        index: {
          ...index,
          run: async () => (run ? { id: run(), isCompared: true } : index.run()),
          isComplete: async () => isComplete && (await index.isComplete()),
          async page(clientId, request) {
            const page = await index.page(clientId, request)
            await afterPage?.()
            return page
          },
          async markComplete() {
            noted.push('complete')
            await index.markComplete()
          },
          async noteCompared(name) {
            noted.push('compared')
            await index.noteCompared(name)
          },
        },
      }),
    })
    await uploadOne(service, { name: 'a.txt', bytes: 'text' })
  })
  beforeEach(() => {
    noted = []
    run = undefined
    afterPage = undefined
    isComplete = true
  })
  after(() => service.stop())

  it('is not marked complete by a reindex that began before', async () => {
    const runs = ['before', 'after']
    run = () => runs.shift() ?? 'after'
    await command(service, 'reindex')
    expect(noted).to.deep.equal([])
    await command(service, 'reindex')
    expect(noted).to.deep.equal(['complete', 'compared'])
  })

  it('returns a 503, not an empty list, for a list that was read during the replacement', async () => {
    expect(await listAll(service)).to.have.length(1)
    afterPage = async () => {
      isComplete = false
    }
    const answer = await fetch(`${service.url}/v1/files`, {
      headers: { Authorization: `Bearer ${service.tokens.secretClientToken}` },
    })
    expect(answer.status).to.equal(503)
  })
})
