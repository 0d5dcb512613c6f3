import { sluice } from '../../sluice'

export async function POST() {
  // Check here that the user is signed in and may upload.
  const link = await sluice.links.create({ folder: 'photos', expiresIn: 600, types: ['image/*'] })
  return Response.json(link)
}
