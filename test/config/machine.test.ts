import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { loadConfig } from '../../config/load.ts'
import { machineLimits, usableCores } from '../../config/machine.ts'

describe('the limits of a container', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-cgroup-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  /** The limits of a process in these groups, by the kernel's files: their path in the root, and their text. */
  const limits = (own: string[], files: Record<string, string> = {}) => {
    for (const [path, text] of Object.entries({ ...files, own: own.join('\n') })) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), `${text}\n`)
    }
    return machineLimits({ root: folder, own: join(folder, 'own') })
  }

  it('are read from cgroup v2, with cores rounded up', () => {
    const v2 = (cpu: string, memory: string) => limits(['0::/'], { 'cpu.max': cpu, 'memory.max': memory })
    expect(v2('150000 100000', '536870912')).to.deep.equal({ cores: 2, memoryBytes: 536_870_912 })
    expect(v2('50000 100000', 'max')).to.deep.equal({ cores: 1 })
    expect(v2('max 100000', 'max')).to.deep.equal({})
  })

  it('are read from cgroup v1, also when controllers share a folder', () => {
    const own = ['9:pids:/', '5:memory:/docker/1f', '3:cpu,cpuacct:/docker/1f', '0::/']
    const files = {
      'memory/docker/1f/memory.limit_in_bytes': '536870912',
      'memory/memory.limit_in_bytes': '9223372036854771712',
      'cpu,cpuacct/docker/1f/cpu.cfs_quota_us': '250000',
      'cpu,cpuacct/docker/1f/cpu.cfs_period_us': '100000',
      'cpu,cpuacct/cpu.cfs_quota_us': '-1',
      'cpu,cpuacct/cpu.cfs_period_us': '100000',
    }
    expect(limits(own, files)).to.deep.equal({ cores: 3, memoryBytes: 536_870_912 })
  })

  it('are the lowest of the own group and its parents', () => {
    const files = { 'a/cpu.max': '100000 100000', 'a/b/cpu.max': '400000 100000', 'a/b/memory.max': '1000' }
    expect(limits(['0::/a/b'], files)).to.deep.equal({ cores: 1, memoryBytes: 1000 })
  })

  it("are the container's own when the path of its group is that of the host", () => {
    expect(limits(['0::/system.slice/docker-1f'], { 'cpu.max': '100000 100000' })).to.deep.equal({ cores: 1 })
  })

  it('do not exist outside of Linux', () => {
    expect(machineLimits({ root: folder, own: join(folder, 'missing') })).to.deep.equal({})
  })

  it('lower the number of threads, which is at least one and at most the cores of the machine', () => {
    expect(usableCores({ cores: 1 })).to.equal(1)
    expect(usableCores({ cores: 1000 })).to.equal(availableParallelism())
    expect(usableCores({})).to.equal(availableParallelism())
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
