# See README.md. Real targets are added with the parts they build.
