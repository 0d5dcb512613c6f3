import { expect } from 'chai'
import { eventually } from '../../support/eventually.ts'
import { operated } from '../../support/programs/operated.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { type Receiver, receiver } from '../../support/requests/receiver.ts'

describe('sluice webhook', () => {
  const own = operated()
  let target: Receiver
  beforeEach(async () => {
    target = await receiver()
  })
  afterEach(() => target.close())

  const start = () =>
    own.start({
      WEBHOOK_URL: target.url('/hooks'),
      WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
      WEBHOOK_ALLOW_ADDRESSES: '127.0.0.1/32',
      WEBHOOK_EVENTS: 'original.stored',
    })

  it('test prints the response of each receiver, and fails when one refuses the event', async () => {
    await start()
    const host = new URL(target.url()).host
    const good = await own.sluice('webhook', 'test')
    expect(good).to.include({ code: 0, stderr: '' })
    expect(good.stdout.replace(/\d+ ms/, 'N ms')).to.equal(
      `receiver  ${host}\nresult    delivered, status 204, N ms\n`,
    )
    target.status = 500
    const bad = await own.sluice('webhook', 'test')
    expect(bad).to.include({ code: 1, stderr: '' })
    expect(bad.stdout)
      .to.match(/^result +failed, status 500, \d+ ms$/m)
      .and.match(new RegExp(`^reason +${host} responded with 500$`, 'm'))
  })

  it('list and replay show deliveries and send them again', async () => {
    const service = await start()
    target.status = 500
    await uploadOne(service, { name: 'a.txt', bytes: 'text' })
    let row: string[] = []
    await eventually(async () => {
      row = ((await own.lines('webhook', 'list', '--status', 'pending'))[1] ?? '').split(/ {2,}/)
      expect(row[5]).to.equal('1')
    })
    expect(row[1]).to.equal('original.stored')
    expect(row[6]).to.include('responded with 500')
    target.status = 204
    const [id = ''] = row
    expect(await own.lines('webhook', 'replay', id)).to.include('1 delivery in the queue')
    await eventually(async () => {
      const deliveries = await own.json<Array<{ id: string; status: string }>>(
        'webhook',
        'list',
        '--since',
        '1h',
      )
      expect(deliveries.map(({ id: one, status }) => [one, status])).to.deep.equal([[id, 'delivered']])
    })
    const replayed = await own.json('webhook', 'replay', '--since', '1h', '--status', 'delivered')
    expect(replayed).to.deep.equal({ replayed: 1, skipped: 0 })
    await eventually(() => expect(target.received).to.have.length(3))
    expect(new Set(target.received.map(({ headers }) => headers['webhook-id'])).size).to.equal(1)
    expect(await own.sluice('webhook', 'replay', 'evt_none')).to.include({ code: 1 })
  })

  it('states what to set when there is no receiver', async () => {
    await own.start()
    const { code, stderr } = await own.sluice('webhook', 'test')
    expect(code).to.equal(1)
    expect(stderr).to.include('WEBHOOK_URL')
  })

  for (const args of [
    ['replay'],
    ['replay', 'x', '--since', '1h'],
    ['list', '--limit', '0'],
    ['list', '--status', 'x'],
  ])
    it(`refuses wrong usage: ${args.join(' ')}`, async () => {
      const { code, stdout } = await own.sluice('webhook', ...args)
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' })
    })
})
