import { expect } from 'chai'
import { command } from '../../support/command.ts'
import { eventually } from '../../support/eventually.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { type Service, startService } from '../../support/service.ts'
import { listAll } from '../../support/stored/files.ts'

describe('an index that is replaced by an empty one', () => {
  let service: Service
  let noted: string[] = []
  let run: (() => string) | undefined
  let afterPage: (() => Promise<void>) | undefined
  let isComplete = true
  before(async () => {
    service = await startService({
      wrapStorage: ({ buckets, index }) => ({
        buckets,
        index: {
          ...index,
          run: async () => (run ? { id: run(), data: 'data', isCompared: true } : index.run()),
          isComplete: async () => isComplete && (await index.isComplete()),
          async page(clientId, request) {
            const page = await index.page(clientId, request)
            await afterPage?.()
            return page
          },
          async markComplete(name) {
            noted.push(`complete: ${name}`)
            await index.markComplete()
          },
          async noteCompared(name) {
            noted.push(`compared: ${name}`)
            await index.noteCompared(name)
          },
        },
      }),
    })
    await uploadOne(service, { name: 'a.txt', bytes: 'text' })
    // The first comparison notes its end, too.
    await eventually(async () => expect((await service.storage.index.run()).isCompared).to.equal(true))
  })
  beforeEach(() => {
    noted = []
    run = undefined
    afterPage = undefined
    isComplete = true
  })
  after(() => service.stop())

  it('is marked complete for the run in which the reindex began, which the index compares with its own', async () => {
    const runs = ['before', 'after']
    run = () => runs.shift() ?? 'after'
    await command(service, 'reindex')
    expect(noted).to.deep.equal(['complete: before', 'compared: before'])
    noted = []
    await command(service, 'reindex')
    expect(noted).to.deep.equal(['complete: after', 'compared: after'])
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
