import { expect } from 'chai'
import { createClient } from '../../../client/index.ts'
import { onOneBackend } from '../../support/backends.ts'
import { rejection } from '../../support/rejection.ts'

onOneBackend('client.presets', (start) => {
  it('saves, lists and removes a preset', async () => {
    const { url, tokens } = await start()
    const { presets } = createClient({ baseUrl: url, secret: tokens.secretClientToken })
    const saved = await presets.save('card.small', { group: 'image', parameters: 'w=40' })
    expect(saved).to.include({ name: 'card.small', from: 'client' })
    expect(await presets.list()).to.deep.include(saved)
    expect(await presets.remove('card.small')).to.equal(undefined)
    expect(await presets.list()).to.not.deep.include(saved)
    expect(await rejection(presets.remove('card.small'))).to.include({ code: 'preset_not_found' })
  })
})
