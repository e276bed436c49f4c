echo of the part
