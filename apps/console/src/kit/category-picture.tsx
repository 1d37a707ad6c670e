import { usePicture } from '../api/use-picture.js';
import classes from './category-picture.module.css';

/** Renders nothing if the category has no picture. */
export function CategoryPicture({ id }: { id: string }) {
  const picture = usePicture('categories', id);
  return picture === undefined ? null : <img className={classes.picture} src={picture} alt="" />;
}
