import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ServiceError } from '@stream-events/contracts';

/** The web apps that the gateway serves. */
export type PageApp = 'console' | 'overlay';

/** Both in the repository and in the image, the apps are next to the gateway. */
const appsFolder = fileURLToPath(new URL('../../../', import.meta.url));

const yearMs = 365 * 86_400_000;

/** A file of a web app, and how long browsers can cache it. */
export interface PageFile {
  path: string;
  options: { immutable: boolean; maxAge: number };
}

/** The files of a built web app. Lists them once, because they do not change while the gateway runs. */
export class PageFiles {
  readonly folder: string;
  private readonly paths: ReadonlySet<string>;

  constructor(
    private readonly app: PageApp,
    apps = appsFolder,
  ) {
    this.folder = `${apps}${app}/dist/`;
    this.paths = new Set(listFiles(this.folder));
  }

  /**
   * Returns the file at a path. For a path without a file, returns the page, whose script chooses the view.
   *
   * @throws ServiceError `not_found` for a missing asset, and for all paths if the app was not built
   */
  find(path: string): PageFile {
    if (!this.paths.has('index.html'))
      throw new ServiceError(
        'not_found',
        `This installation does not contain the ${this.app}. Build it with: npx nx build ${this.app}, and restart the gateway. ` +
          `The API works without the ${this.app}; see /api/docs/.`,
      );
    // Asset names contain a hash of the content, so browsers can cache assets for a year.
    const isAsset = path.startsWith('assets/');
    if (isAsset && !this.paths.has(path))
      throw new ServiceError(
        'not_found',
        `The ${this.app} has no such file. After an upgrade of the service, reload the page.`,
      );
    if (isAsset) return { path, options: { immutable: true, maxAge: yearMs } };
    const file = this.paths.has(path) ? path : 'index.html';
    return { path: file, options: { immutable: false, maxAge: 0 } };
  }
}

/** Returns all file paths, relative to the folder. Empty if the folder does not exist. */
function listFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`.slice(folder.length).replace(/^\//, ''));
}
