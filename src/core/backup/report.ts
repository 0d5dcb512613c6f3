/** What is wrong with a file of a backup, a restore or a migration. */
export type BackupTroubleKind = keyof typeof BACKUP_TROUBLES

/** Each kind with its explanation for the operator. */
export const BACKUP_TROUBLES = {
  damaged: 'the bytes differ from their SHA-256',
  missing: 'the file or its bytes do not exist',
  unreadable: 'could not be read',
  differs: 'the installation has other bytes; they were not changed',
  refused: 'the target cannot have a file with this key',
} as const

/** One file that could not be copied, or that is damaged. */
export interface BackupTrouble {
  kind: BackupTroubleKind
  /** Absent for an object of the backup that belongs to no file of this run. */
  clientId?: string
  /** Its key; a slash for all files of the client. */
  key: string
  /** What was done or found, for the operator. */
  detail?: string
}

/** The counts of a run, while it runs. */
export interface BackupProgress {
  /** Files that are done. In a verification, files of the backup; in a migration, all objects. */
  files: number
  bytes: number
  /** What was done with these bytes. */
  done: 'copied' | 'verified'
  /** The expected number of files, where it is known. */
  total?: number | undefined
}

/** The result of a backup. Files are originals; the records are counted apart from them. */
export interface BackupReport {
  /** When it began, in ISO 8601: `restore --at` finds it by this time. */
  backup: string
  files: number
  /** Of these files. */
  bytes: number
  /** Files that the previous backup does not have. */
  new: number
  unchanged: number
  /** Files of the previous backup that have been deleted since then. */
  deleted: number
  /** Records that were added or changed, of files, clients, members and aliases. */
  records: number
  /** Bytes that were copied. Files with the same content are copied once. */
  copiedBytes: number
  /** Files whose record exists, but not their bytes. */
  missing: number
  damaged: number
  unreadable: number
  /** Objects of the backup that were read again and compared with their SHA-256. */
  verified?: number
  /** What `--keep` has deleted. */
  expired?: { backups: number; objects: number }
}

/** The result of a restore. */
export interface RestoreReport {
  /** When the restored backup began, in ISO 8601. */
  backup: string
  /** The selected ones. */
  files: number
  restored: number
  /** Files that the target has with the same bytes. */
  present: number
  restoredBytes: number
  differs: number
  missing: number
  damaged: number
  unreadable: number
  /** Files with a key that the disk cannot have. */
  refused: number
  /** Files and clients that could not be copied into this backup. It has earlier copies of them at best. */
  notCopied: number
}

/** One backup of a list. */
export interface ListedBackup {
  /** When it began, in ISO 8601. */
  backup: string
  /** Absent when its manifest is damaged or could not be read. */
  files?: number
  /** Why its manifest could not be read. */
  unreadable?: string
  /** Files and clients that could not be copied into it. */
  notCopied?: number
}

/** The result of a migration. */
export interface MigrationReport {
  /** How often both sides were compared. */
  passes: number
  /** Whether the last pass has found no difference, and all files could be copied. */
  isComplete: boolean
  files: number
  /** Objects, in all passes. */
  copied: number
  copiedBytes: number
  deleted: number
  /** Files that could not be copied. */
  notCopied: number
  /** The variables with which a service uses the target. Values of secrets are left out. */
  settings?: Readonly<Record<string, string>>
}

/** The numbers of what `migrate-state` has copied. */
export interface StateReport {
  /** Uses of links, answers to repeated requests, and the like. */
  ledger: number
  /** Days of usage, counted for each client. */
  usage: number
  /** Entries of the audit log: 0 also when the new place has entries of its own. */
  audit: number
  /** Entries of the delivery log of webhooks. */
  deliveries: number
  /** Jobs that wait. */
  jobs: number
}
