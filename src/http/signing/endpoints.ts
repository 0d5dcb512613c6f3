import { createFolderCookie, setFolderCookie } from './folder-cookie.ts'
import { createUploadLink, getUploadLink } from './upload-links.ts'
import { signDeliveryUrl } from './urls.ts'

/** Links that work without a secret: for uploads, and for deliveries; and the cookies of folders. */
export const SIGNING = [signDeliveryUrl, createUploadLink, getUploadLink, createFolderCookie, setFolderCookie]
