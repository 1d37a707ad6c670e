import type { PictureAddress } from '../outbound-platform.js';
import { readObject, readObjects, readOptionalText, readText } from '../reply-fields.js';

/** The only host that serves Twitch's pictures (FACTS.md §4.4). */
export const pictureOrigins = ['https://static-cdn.jtvnw.net'];

// The size of box art, in pixels. Lists show box art at half this size; high-density screens use all of the pixels.
const boxArtWidth = '144';
const boxArtHeight = '192';

export function toGamesQuery(ids: readonly string[]): string {
  return new URLSearchParams(ids.map((id): [string, string] => ['id', id])).toString();
}

export function readUserPictures(body: unknown): PictureAddress[] {
  return readPictures(body, 'profile_image_url');
}

export function readGamePictures(body: unknown): PictureAddress[] {
  return readPictures(body, 'box_art_url').map(({ id, url }) => ({
    id,
    url: url.replaceAll('{width}', boxArtWidth).replaceAll('{height}', boxArtHeight),
  }));
}

function readPictures(body: unknown, field: string): PictureAddress[] {
  return readObjects(readObject(body, 'the list of pictures'), 'data')
    .map((item) => ({ id: readText(item, 'id'), url: readOptionalText(item, field) }))
    .filter(({ url }) => url !== '');
}
