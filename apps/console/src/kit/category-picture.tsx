import { usePicture } from '../api/use-picture.js';
import classes from './category-picture.module.css';

/** The picture of a category. Renders nothing for a category without a picture. */
export function CategoryPicture({ id }: { id: string }) {
  const picture = usePicture('categories', id);
  return picture === undefined ? null : <img className={classes.picture} src={picture} alt="" />;
}
