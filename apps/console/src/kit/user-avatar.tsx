import { usePicture } from '../api/use-picture.js';
import classes from './user-avatar.module.css';

interface UserAvatarProps {
  name?: string | undefined;
  /** Platform user id. Without it, the avatar shows the initial. */
  id?: string | undefined;
  /** In pixels. */
  size?: number;
}

/** A user's picture. Until it has loaded, shows the initial on a color derived from the name. */
export function UserAvatar({ name = '', id, size = 24 }: UserAvatarProps) {
  const picture = usePicture('users', id);
  const [initial = '·'] = name.replace(/[^\p{L}\p{N}]/gu, '').toUpperCase();
  return (
    <span
      className={classes.avatar}
      style={{ '--avatar-hue': hueOf(name), '--avatar-size': `${size}px` }}
      aria-hidden
    >
      {picture === undefined ? initial : <img className={classes.picture} src={picture} alt="" />}
    </span>
  );
}

function hueOf(name: string): number {
  let hash = 0;
  for (const character of name.slice(0, 64)) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 360;
  return hash;
}
