import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { withHiddenFiles } from '../../../src/engines/programs/hidden-files.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

describe('files of this process that a program must not inherit', () => {
  const opened: number[] = []
  let folder: string
  before(async () => {
    folder = await temporaryFolder()
    // As many as thousands of connections are.
    for (let i = 0; i < 2000; i += 1) opened.push(openSync('/dev/null', 'r'))
    opened.push(openSync(join(folder, 'index'), 'w'))
  })
  after(() => {
    for (const fd of opened) closeSync(fd)
    rmSync(folder, { recursive: true })
  })

  it('are replaced by /dev/null, and no other descriptor is passed on', async () => {
    const file = opened.at(-1) as number
    const stdio = await withHiddenFiles(['ignore', 'pipe', 'pipe'])
    expect(stdio.slice(0, 3)).to.deep.equal(['ignore', 'pipe', 'pipe'])
    const others = opened.slice(0, -1).map((fd) => stdio[fd])
    expect(new Set(others)).to.deep.equal(new Set(['ignore']))
    const child = spawn('readlink', [`/proc/self/fd/${file}`], { stdio })
    const [link] = await Promise.all([text(child.stdout), once(child, 'close')])
    expect(link).to.equal('/dev/null\n')
  })

  it('are searched for in portions, so that other work runs in between', async () => {
    let turns = 0
    let isDone = false
    const count = () => {
      turns += 1
      if (!isDone) setImmediate(count)
    }
    setImmediate(count)
    await withHiddenFiles(['ignore', 'pipe', 'pipe'])
    isDone = true
    expect(turns).to.be.at.least(6)
  })
})
