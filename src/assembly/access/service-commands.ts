import type { Commands } from '../../core/command.ts'
import type { AuditLog } from '../../core/ports/audit-log.ts'
import { auditedCommands } from '../../service/admin/audited-commands.ts'
import { createCommands } from '../../service/admin/commands.ts'
import { withPartitions } from '../../service/admin/partition-commands.ts'

/** The commands of the service, with those of partitions and with entries in the audit log. */
export function openServiceCommands({
  audit,
  ...parts
}: Parameters<typeof createCommands>[0] &
  Parameters<typeof withPartitions>[1] & { audit: AuditLog }): Commands {
  return auditedCommands(withPartitions(createCommands(parts), parts), audit)
}
