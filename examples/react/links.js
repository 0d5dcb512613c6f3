import { createClient } from 'sluice/client'

const sluice = createClient({
  baseUrl: process.env.SLUICE_URL ?? 'http://localhost:3000',
  secret: process.env.SLUICE_SECRET,
})

/**
 * Creates a link for one file. The uploader sends `{ name, size, type, folder }`. Check here that the user is signed in and may
 * upload, and that the folder is acceptable.
 */
export function createLink({ folder = '' }) {
  return sluice.links.create({
    folder: ['uploads', folder].filter(Boolean).join('/'),
    expiresIn: 3600,
    maxBytes: 100_000_000,
    types: ['image/*', 'video/*', 'application/pdf'],
  })
}
