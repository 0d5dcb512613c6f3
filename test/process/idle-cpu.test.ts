import { expect } from 'chai'
import { idleCpu } from '../../src/process/idle-cpu.ts'
import { rejection } from '../support/rejection.ts'

describe('the idle share of the CPU', () => {
  const { signal } = new AbortController()

  it('is that of the time between two looks', async () => {
    const looks = [
      { idle: 1000, all: 5000 },
      { idle: 1300, all: 5400 },
    ]
    expect(await idleCpu(signal, { times: () => looks.shift() ?? { idle: 0, all: 0 } })).to.equal(0.75)
  })

  it('is a share of all cores of this machine', async () => {
    expect(await idleCpu(signal)).to.be.within(0, 1)
  })

  it('is not measured to the end after an abort', async () => {
    expect(await rejection(idleCpu(AbortSignal.abort()))).to.have.property('name', 'AbortError')
  })
})
