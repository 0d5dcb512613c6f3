import { expect } from 'chai'
import type { CommandRun } from '../../../src/core/command.ts'
import type { AuditLog } from '../../../src/core/ports/audit-log.ts'
import { auditedCommands } from '../../../src/service/admin/audited-commands.ts'

describe('the audit log of commands', () => {
  it('has a move of a client to other partitions, unless nothing had to move', async () => {
    const entries: unknown[] = []
    const audit = { add: (entry: unknown) => void entries.push(entry) } as unknown as AuditLog
    for (const isChanged of [false, true]) {
      const commands = auditedCommands({ 'client partition': async () => ({ isChanged }) }, audit)
      await commands['client partition']?.({ id: 'a', partitions: 64 }, {} as CommandRun)
      expect(entries).to.have.length(isChanged ? 1 : 0)
    }
    expect(entries[0]).to.include({ action: 'client.partition', client: 'a' })
  })
})
