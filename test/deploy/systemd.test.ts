import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { VARIABLES } from '../../config/schema.ts'

// 2.0 of 10, far below 5.0, up to which systemd-analyze security prints "OK".
const MOST_EXPOSURE = 20

const UNITS = [
  { unit: 'sluice.service', process: 'web', stopSeconds: stopOfServer() },
  // A worker returns its job within 8 s.
  { unit: 'sluice-worker.service', process: 'worker', stopSeconds: 8 },
]

/** Seconds from SIGTERM to the end of the server. */
function stopOfServer() {
  const { SHUTDOWN_DELAY_SECONDS: delay, SHUTDOWN_DRAIN_SECONDS: drain } = VARIABLES
  return Number(delay.default) + Number(drain.default)
}

for (const { unit, process, stopSeconds } of UNITS)
  describe(unit, () => {
    const file = `deploy/systemd/${unit}`
    const text = readFileSync(file, 'utf8')
    /** The values of a directive, in order. */
    const valuesOf = (directive: string) =>
      [...text.matchAll(new RegExp(`^${directive}=(.*)$`, 'gm'))].map(([, value = '']) => value)

    it('has only directives and values that systemd knows', () => {
      const args = ['verify', '--man=no', '--recursive-errors=no', file]
      const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' })
      // It also reads the other units of this machine, and prints their problems.
      const own = (stdout + stderr).split('\n').filter((line) => line.includes(unit))
      expect(own).to.deep.equal([])
      expect(status).to.equal(0)
    })

    it('is not much exposed by systemd-analyze security', () => {
      const args = ['security', '--offline=true', '--no-pager', `--threshold=${MOST_EXPOSURE}`, file]
      const { status, stdout } = spawnSync('systemd-analyze', args, { encoding: 'utf8' })
      expect(stdout).to.match(/Overall exposure level for sluice\S*: \d\.\d OK/)
      expect(
        status,
        stdout
          .split('\n')
          .filter((line) => line.startsWith('✗'))
          .join('\n'),
      ).to.equal(0)
    })

    it('starts what the Procfile starts, as a user without rights', () => {
      const [, command = ''] =
        new RegExp(`^${process}: (.+)$`, 'm').exec(readFileSync('Procfile', 'utf8')) ?? []
      expect(valuesOf('ExecStart')).to.deep.equal([`/bin/${command}`])
      expect(valuesOf('User')).to.deep.equal(['sluice'])
      expect(valuesOf('CapabilityBoundingSet')).to.deep.equal([''])
    })

    it('allows the pages that V8 writes and executes, and Landlock for Office documents', () => {
      expect(valuesOf('MemoryDenyWriteExecute')).to.deep.equal([])
      expect(valuesOf('SystemCallFilter')[0]).to.match(/landlock_create_ruleset .*landlock_restrict_self/)
    })

    it('has its data in the folder that it may write to', () => {
      const pairs = valuesOf('Environment').flatMap((value) =>
        value.split(' ').map((pair) => pair.split('=')),
      )
      expect(pairs.map(([name]) => name).filter((name = '') => !(name in VARIABLES))).to.deep.equal([
        'NODE_ENV',
      ])
      const [folder] = valuesOf('StateDirectory')
      expect(pairs).to.deep.include(['DATA_DIR', `/var/lib/${folder}`])
    })

    it('allows more time to stop than the process takes', () => {
      expect(Number(valuesOf('TimeoutStopSec')[0])).to.be.at.least(stopSeconds + 5)
      expect(valuesOf('KillMode')).to.deep.equal(['mixed'])
    })
  })
