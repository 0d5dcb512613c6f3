import {
  Activity,
  Building2,
  ChartColumn,
  FolderClosed,
  ListVideo,
  type LucideIcon,
  ScrollText,
  SlidersHorizontal,
  Trash2,
  Users,
  Webhook,
} from 'lucide-react'
import { LAYOUT } from './texts.ts'

/** The pages of a client. */
export const CLIENT_PAGES = [
  { to: '/c/$clientId/files/$', label: LAYOUT.files, Icon: FolderClosed, shortcut: 'g f' },
  { to: '/c/$clientId/playground/$', label: LAYOUT.playground, Icon: SlidersHorizontal, shortcut: 'g p' },
  { to: '/c/$clientId/jobs', label: LAYOUT.jobs, Icon: ListVideo, shortcut: 'g j' },
  { to: '/c/$clientId/trash', label: LAYOUT.trash, Icon: Trash2, shortcut: 'g t' },
] as const satisfies ReadonlyArray<{ to: string; label: string; Icon: LucideIcon; shortcut: string }>

/** The pages of the installation that all members may read, each with the clients that the member may see. */
const SHARED_PAGES = [
  { to: '/clients', label: LAYOUT.clients, Icon: Building2, shortcut: 'g c' },
  { to: '/webhooks', label: LAYOUT.webhooks, Icon: Webhook, shortcut: 'g w' },
] as const

/** The pages of owners. */
const OWNER_PAGES = [
  { to: '/usage', label: LAYOUT.usage, Icon: ChartColumn, shortcut: 'g u' },
  { to: '/health', label: LAYOUT.health, Icon: Activity, shortcut: 'g h' },
  { to: '/members', label: LAYOUT.members, Icon: Users, shortcut: 'g m' },
  { to: '/audit', label: LAYOUT.audit, Icon: ScrollText, shortcut: 'g a' },
] as const satisfies ReadonlyArray<{ to: string; label: string; Icon: LucideIcon; shortcut: string }>

/** The pages of the installation that a member may see. */
export function installationPages({ isOwner }: { isOwner: boolean }) {
  return isOwner ? [...SHARED_PAGES, ...OWNER_PAGES] : SHARED_PAGES
}
