import { createFolderCookie, setFolderCookie } from './folder-cookie.ts'
import { createUploadLink, getUploadLink } from './upload-links.ts'
import { signDeliveryUrl } from './urls.ts'

/** Links that work without a secret: for uploads, and for deliveries; and the cookies of folders. Each folder has a link by GET, so its route is behind the fixed ones. */
export const SIGNING = [signDeliveryUrl, createFolderCookie, createUploadLink, getUploadLink, setFolderCookie]
