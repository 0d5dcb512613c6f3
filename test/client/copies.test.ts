import { expect } from 'chai'
import { createClient, type SluiceClient } from '../../client/index.ts'
import { onOneBackend } from '../support/backends.ts'

onOneBackend('copies, moves and presets of the client library', (start) => {
  let client: SluiceClient
  before(async () => {
    const { url, tokens } = await start()
    client = createClient({ baseUrl: url, secret: tokens.secretClientToken })
  })
  const upload = (folder: string) => client.files.upload(new File(['text'], 'a.txt'), { folder })

  it('copy and move files by record and by path', async () => {
    const record = await upload('a')
    const [copied, missing] = await client.files.copy([
      { file: record, to: 'b' },
      { file: 'text/txt/1111111111111111111111.txt', to: 'b' },
    ])
    if (copied?.status !== 'copied') throw new Error(JSON.stringify(copied))
    expect(copied.file.s3PathOriginal).to.match(/^b\/text\/txt\//)
    expect(missing).to.include({ status: 'error', code: 'file_not_found' })
    const [moved] = await client.files.move([
      { file: record.s3PathOriginal, to: `c/${record.sourceName}`, redirect: '1d' },
    ])
    if (moved?.status !== 'moved') throw new Error(JSON.stringify(moved))
    expect(moved.file.s3PathOriginal).to.equal(`c/text/txt/${record.sourceName}`)
    expect(Date.parse(String(moved.redirectUntil))).to.be.above(Date.now())
    expect(await (await fetch(record.src)).text()).to.equal('text')
  })

  it('copy more files than one request accepts', async () => {
    const { s3PathOriginal: file } = await upload('many')
    const outcomes = await client.files.copy(Array.from({ length: 101 }, () => ({ file, to: 'copies' })))
    expect(outcomes.filter(({ status }) => status === 'copied')).to.have.length(101)
  })

  it('list the presets', async () => {
    const presets = await client.presets.list()
    expect(presets.map(({ name }) => name)).to.include('thumbnail')
  })
})
