import type {
  InvitedMember,
  Member,
  MemberChange,
  MemberList,
  NewMember,
  NewMemberLink,
} from '../generated/api.ts'
import type { Api, CallOptions } from '../http/request.ts'
/** The members, for owners. All calls reject with a {@link SluiceError}. */
export interface Members {
  list(options?: CallOptions): Promise<Member[]>
  invite(member: NewMember, options?: CallOptions): Promise<InvitedMember>
  update(id: string, change: MemberChange, options?: CallOptions): Promise<Member>
  /** 409 `last_owner` for the only owner. */
  remove(id: string, options?: CallOptions): Promise<void>
  /** A new invitation, or a link for a new password. */
  createLink(id: string, options?: CallOptions): Promise<NewMemberLink>
}

/** Creates the calls for members. */
export function createMembers(api: Api): Members {
  const path = '/v1/members'
  const at = (id: string) => `${path}/${encodeURIComponent(id)}`
  return {
    list: async ({ signal } = {}) => (await api.json<MemberList>({ path, signal })).members,
    invite: (json, { signal } = {}) => api.json({ method: 'POST', path, json, signal }),
    update: (id, json, { signal } = {}) => api.json({ method: 'PATCH', path: at(id), json, signal }),
    remove: async (id, { signal } = {}) => {
      await api.send({ method: 'DELETE', path: at(id), signal })
    },
    createLink: (id, { signal } = {}) => api.json({ method: 'POST', path: `${at(id)}/link`, signal }),
  }
}
