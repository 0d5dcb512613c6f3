import type { MemberTable } from '../../members/member.ts'

/** The members. They are few and read on every request of the console, so implementations keep them in memory. */
export interface MemberStore {
  /** The members as this process knows them. */
  table(): MemberTable
  /**
   * Replaces the table by the `table` of `make`. The table is read again first, and no process can change it in between:
   * rules about several members hold, such as unique email addresses. Other processes see the change within seconds.
   * @param make if it throws, nothing changes; if it returns the same table, nothing is written
   * @returns the `result` of `make`
   * @throws the error of `make`; Problem 503
   */
  change<T>(make: (present: MemberTable) => { table: MemberTable; result: T }): Promise<T>
  /**
   * Reads the changes of other processes.
   * @throws when the store is unavailable; the known members remain
   */
  refresh(): Promise<void>
}
