"""What loss smoothing gains with how many training images: no paper, but a study made like one."""
