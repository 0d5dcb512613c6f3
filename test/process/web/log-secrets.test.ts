import { expect } from 'chai'
import { newSecretToken } from '../../../src/core/clients/client.ts'
import { rejection } from '../../support/rejection.ts'
import { run } from '../../support/servers/process.ts'
import { startService } from '../../support/service.ts'

// Every service and process that a test starts has its log looked through at its end: that is the log of the whole run.
describe('the log of a run of all tests', () => {
  it('must not contain a secret token of any client', async () => {
    const service = await startService()
    service.log.info({ nested: { token: newSecretToken() } }, 'told too much')
    const error = await rejection(service.stop())
    expect(error).to.be.an('error')
    expect(String(error))
      .to.match(/a secret is in the log: .*nested/s)
      .and.not.include('sec_')
  })

  it('must not contain a secret of the environment', async () => {
    const env = { CLIENT_TOKEN: 'our-own-token', SECRET_CLIENT_TOKEN: 'correct-horse-battery' }
    const service = await startService({ env })
    service.log.info({ path: 'a-correct-horse-battery' }, 'told too much')
    expect(String(await rejection(service.stop()))).to.match(/a secret is in the log/)
  })

  it('must not contain a secret in a line of a process', async () => {
    const lines = (text: string) => ['-e', `console.log(${JSON.stringify(text)})`]
    const env = { WEBHOOK_SECRET: 'whsec_one whsec_two' }
    const leaking = run({ script: lines('{"msg":"whsec_two"}'), env })
    expect(String(await rejection(leaking.ended))).to.match(/a secret is in the log/)
    expect(await run({ script: lines('secret: whsec_two\n{"msg":"ready"}'), env }).ended).to.equal(0)
  })
})
