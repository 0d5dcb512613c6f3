import { expect } from 'chai'
import { createClient } from '../../client/index.ts'
import { onOneBackend } from '../support/backends.ts'
import { projectFolder, recolouring } from '../support/drop-ins.ts'
import { rejection } from '../support/rejection.ts'

onOneBackend('client.parameters', (start) => {
  it('lists the parameters of all plugins by type of files, also for callers without a token', async () => {
    const root = await projectFolder({ 'red.js': recolouring('red', 'red', '[255, 0, 0]') })
    const { url, tokens } = await start({ root })
    const sent: Array<string | null> = []
    const sluice = createClient({
      baseUrl: url,
      secret: tokens.secretClientToken,
      fetch: (input, init) => {
        sent.push(new Headers(init?.headers).get('Authorization'))
        return fetch(input, init)
      },
    })
    const lists = await sluice.parameters()
    expect(sent).to.deep.equal([null])
    expect(lists.image?.find(({ name }) => name === 'red')).to.deep.include({
      plugin: 'red',
      type: 'flag',
      help: 'One colour',
      aliases: [],
    })
    for (const [group, name] of [
      ['image', 'crop'],
      ['video', 'hls'],
      ['audio', 'waveform'],
    ] as const)
      expect(lists[group]?.map((parameter) => parameter.name)).to.include(name)
    const reason = new Error('left')
    expect(await rejection(sluice.parameters({ signal: AbortSignal.abort(reason) }))).to.equal(reason)
  })
})
