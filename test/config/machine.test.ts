import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { loadConfig } from '../../config/load.ts'
import { machineLimits } from '../../config/machine.ts'

describe('the limits of a container', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-cgroup-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const limits = (cpu: string, memory: string) => {
    writeFileSync(join(folder, 'cpu.max'), `${cpu}\n`)
    writeFileSync(join(folder, 'memory.max'), `${memory}\n`)
    return machineLimits(folder)
  }

  it('are read from cgroup v2, with cores rounded up', () => {
    expect(limits('150000 100000', '536870912')).to.deep.equal({ cores: 2, memoryBytes: 536_870_912 })
    expect(limits('50000 100000', 'max')).to.deep.equal({ cores: 1 })
  })

  it('do not exist without a quota, outside of a container, and with cgroup v1', () => {
    expect(limits('max 100000', 'max')).to.deep.equal({})
    expect(machineLimits(join(folder, 'missing'))).to.deep.equal({})
  })

  const memory = (memoryBytes: number | undefined, environment = {}) => {
    const config = loadConfig(environment, memoryBytes === undefined ? {} : { memoryBytes })
    return [config.TRANSFORM_MAX_MEMORY_BYTES, config.MEDIA_MAX_MEMORY_BYTES]
  }

  it('lower the defaults of the memory limits to 60 %, but not below their minimum', () => {
    expect(memory(undefined)).to.deep.equal([1_000_000_000, 1024 ** 3])
    expect(memory(8e9)).to.deep.equal([1_000_000_000, 1024 ** 3])
    expect(memory(500e6)).to.deep.equal([300e6, 300e6])
    expect(memory(100e6)).to.deep.equal([200e6, 200e6])
  })

  it('do not change a configured memory limit', () => {
    expect(memory(500e6, { TRANSFORM_MAX_MEMORY_BYTES: '800000000' })).to.deep.equal([800e6, 300e6])
  })
})
