import classes from './user-avatar.module.css';

/** Stands for the picture of a user: the initial, on a color that the same name always gets. */
export function UserAvatar({ name = '' }: { name?: string | undefined }) {
  const [initial = '·'] = name.replace(/[^\p{L}\p{N}]/gu, '').toUpperCase();
  return (
    <span className={classes.avatar} style={{ '--avatar-hue': hueOf(name) }} aria-hidden>
      {initial}
    </span>
  );
}

function hueOf(name: string): number {
  let hash = 0;
  for (const character of name.slice(0, 64)) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 360;
  return hash;
}
