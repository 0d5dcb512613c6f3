/** A change that a person has made, for the audit log. */
export interface AuditEntry {
  /** The member; null when it is not known, as for a failed sign-in. */
  member: { id: string; name: string } | null
  /** The IP address as limits count it, or `command line`. */
  address: string
  /** `<noun>.<verb>`: `client.create`, `secret.rotate`, `session.sign-in`. */
  action: string
  /** The ID of the client whose data was changed. */
  client?: string
  /** What was changed: the ID of a member or client, or the path of a file. */
  target?: string
  /** More about the change. It has no secrets. */
  details?: Readonly<Record<string, unknown>>
}

/** The log of changes by people. */
export interface AuditLog {
  /** Adds an entry. It never throws, and does not delay the caller: an entry may be lost when the process is killed. */
  add(entry: AuditEntry): void
}

/** An entry as it is stored. */
export interface StoredEntry extends AuditEntry {
  /** Unique, and later entries have greater ones: `<number>-<number>`. */
  id: string
  /** Milliseconds since 1970. */
  at: number
}

/** A page of the log, the latest entries first. */
export interface AuditQuery {
  /** Only entries about this client. */
  client?: string | undefined
  /** Only entries of this member, by ID. */
  member?: string | undefined
  /** Only entries before the one with this ID. */
  before?: string | undefined
  limit: number
}

/**
 * Where the audit log is stored. It is bounded: the oldest entries are removed. Refused sign-ins have a bound of their own, so that
 * a visitor who guesses passwords removes no other entries.
 */
export interface AuditStore {
  /** @throws Problem 503 */
  append(entry: Omit<StoredEntry, 'id'>): Promise<void>
  /** @throws Problem 503 */
  list(query: AuditQuery): Promise<StoredEntry[]>
}

/** How many entries are retained, about. */
export const AUDIT_ENTRIES_MAX = 100_000

/** How many of them may be refused sign-ins, which any visitor can cause. */
export const REFUSED_SIGN_INS_MAX = 10_000

/** The action of a refused sign-in. */
export const REFUSED_SIGN_IN = 'session.refuse'

/** Whether a text has the form of an ID of an entry. */
export function isEntryId(text: string): boolean {
  return /^\d{1,16}-\d{1,16}$/.test(text)
}

/** Whether an entry is listed by these filters. */
export function isAudited(
  entry: AuditEntry,
  { client, member }: Pick<AuditQuery, 'client' | 'member'>,
): boolean {
  return (
    (client === undefined || entry.client === client) && (member === undefined || entry.member?.id === member)
  )
}
